#include "support/postgres.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <stdexcept>

namespace ringshard::testing {

void run_postgres(const std::string& dsn, const std::string& sql) {
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(dsn.c_str()), PQfinish);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection.get(), sql.c_str()),
                                                              PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(sql + ": " + PQerrorMessage(connection.get()));
}

std::string postgres_server() {
  if (const char* dsn = std::getenv("RINGSHARD_TEST_POSTGRES")) return dsn;
  std::ifstream file(RINGSHARD_TEST_POSTGRES_FILE);
  std::string dsn;
  std::getline(file, dsn);
  return dsn;
}

TestDatabase::TestDatabase(const std::string& name) : server_(postgres_server()) {
  std::random_device random;
  name_ = "test_" + name + "_" + std::to_string(::getpid()) + "_" + std::to_string(random());
  run_postgres(server_, "CREATE DATABASE " + name_);
}

TestDatabase::~TestDatabase() {
  try {
    run_postgres(server_, "DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
  } catch (const std::exception&) {
    // It goes with the server.
  }
}

std::string TestDatabase::dsn() const {
  const std::size_t path = server_.find("@/") + 2;
  return server_.substr(0, path) + name_ + server_.substr(server_.find('?', path));
}

std::string TestDatabase::pooled_dsn() const {
  const std::string folder = server_.substr(server_.find("?host=") + 6);
  if (!std::filesystem::exists(folder + "/.s.PGSQL.6432")) return {};
  return dsn() + "&port=6432";
}

}  // namespace ringshard::testing
