#include "support/postgres_cluster.hpp"

#include <filesystem>
#include <random>
#include <stdexcept>
#include <vector>

#include "support/postgres.hpp"
#include "support/process.hpp"

namespace ringshard::testing {

PostgresCluster::PostgresCluster() { run("init"); }

PostgresCluster::PostgresCluster(const PostgresCluster& source) { run("replica", source.folder()); }

PostgresCluster::~PostgresCluster() {
  try {
    if (std::filesystem::exists(folder_ / "data" / "postmaster.pid")) kill();
  } catch (const std::exception&) {
    // It was not running.
  }
}

std::string PostgresCluster::dsn(const std::string& database) const {
  return "postgresql://ringshard@/" + database + "?host=" + folder();
}

std::string PostgresCluster::new_database() {
  const std::string name = "world_" + std::to_string(++databases_);
  run_postgres(dsn(), "CREATE DATABASE " + name);
  return dsn(name);
}

void PostgresCluster::kill() { run("kill"); }
void PostgresCluster::start() { run("start"); }
void PostgresCluster::stop() { run("stop"); }
void PostgresCluster::promote() { run("promote"); }

std::string PostgresCluster::listen_to_tls() {
  std::random_device random;
  for (int tries = 0;; ++tries) {
    const std::string port = std::to_string(20'000 + random() % 30'000);
    try {
      run("tls", port);
      return "postgresql://ringshard@localhost:" + port + "/shop";
    } catch (const std::runtime_error&) {
      if (tries == 5) throw;  // another program may have the port
    }
  }
}

void PostgresCluster::run(const std::string& command, const std::string& more) const {
  std::vector<std::string> arguments{command, folder()};
  if (!more.empty()) arguments.push_back(more);
  const ProcessResult result =
      run_process(tests_folder() / "support" / "postgres_cluster.sh", arguments);
  if (result.exit_code != 0)
    throw std::runtime_error("postgres_cluster.sh " + command + ": " + result.out + result.err);
}

}  // namespace ringshard::testing
