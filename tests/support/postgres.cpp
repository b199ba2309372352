#include "support/postgres.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>

namespace ringshard::testing {

namespace {

using ConnectionHandle = std::unique_ptr<PGconn, void (*)(PGconn*)>;

ConnectionHandle connect(const std::string& dsn) { return {PQconnectdb(dsn.c_str()), PQfinish}; }

// The first column of the first row, or an empty text.
std::string run(PGconn* connection, const std::string& sql) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection, sql.c_str()),
                                                              PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(sql + ": " + PQerrorMessage(connection));
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

// What an earlier test, which may have been killed, left there.
constexpr auto clear =
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "
    "current_database() AND pid <> pg_backend_pid() AND usename = current_user";

}  // namespace

bool no_server() {
  if (!postgres_server().empty()) return false;
  std::cout << "test skipped: there is no PostgreSQL server\n";
  return true;
}

void run_postgres(const std::string& dsn, const std::string& sql) {
  static_cast<void>(run(connect(dsn).get(), sql));
}

std::string postgres_server() {
  if (const char* dsn = std::getenv("RINGSHARD_TEST_POSTGRES")) return dsn;
  std::ifstream file(RINGSHARD_TEST_POSTGRES_FILE);
  std::string dsn;
  std::getline(file, dsn);
  return dsn;
}

struct TestDatabase::Lock {
  ConnectionHandle connection;
};

TestDatabase::TestDatabase() : server_(postgres_server()) {
  // Making a database takes longer than most tests: the first one that nobody has is taken, for as
  // long as this connection lives, and emptied.
  lock_ = std::make_unique<Lock>(Lock{connect(server_)});
  PGconn* server = lock_->connection.get();
  int number = 1;
  while (run(server, "SELECT pg_try_advisory_lock(4711, " + std::to_string(number) + ")") != "t")
    ++number;
  name_ = "test_" + std::to_string(number);
  if (run(server, "SELECT 1 FROM pg_database WHERE datname = '" + name_ + "'").empty()) {
    run(server, "CREATE DATABASE " + name_);
    return;
  }
  run(server, "ALTER DATABASE " + name_ + " RESET ALL");
  const ConnectionHandle own = connect(dsn());
  for (const char* sql : {clear, "DROP OWNED BY CURRENT_USER CASCADE"}) run(own.get(), sql);
}

TestDatabase::~TestDatabase() = default;

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
