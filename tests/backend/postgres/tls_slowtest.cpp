#include <iostream>
#include <ringshard/error.hpp>

#include "backend/backend.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"
#include "support/postgres.hpp"
#include "support/postgres_cluster.hpp"
#include "support/process.hpp"

namespace ringshard::testing {

TEST_CASE(
    "PostgreSQL: a node is reached over TLS, and only with the certificate that it must have") {
  if (no_server()) return;
  if (run_process("/bin/sh", {"-c", "openssl version"}).exit_code != 0) {
    std::cout << "test skipped: openssl is not installed\n";
    return;
  }
  PostgresCluster server;
  const std::string dsn = server.listen_to_tls();
  const std::string verified =
      dsn + "?sslmode=verify-full&sslrootcert=" + server.folder() + "/ca.crt";
  const HomeName home{"shop", std::nullopt};
  const auto backend = open_backend(verified, system_clock());
  backend->ping();
  const auto session = backend->connect(home, SessionUse::application);
  CHECK(session->integer("SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl") ==
        1);
  // An authority that has not signed it, and a server that speaks no TLS at all.
  PostgresCluster other;
  static_cast<void>(other.listen_to_tls());
  for (const std::string& wrong :
       {dsn + "?sslmode=verify-full&sslrootcert=" + other.folder() + "/ca.crt",
        server.dsn() + "&sslmode=verify-full&hostaddr=127.0.0.1", dsn + "?sslmode=disable"}) {
    INFO(wrong);
    CHECK_THROWS_AS(open_backend(wrong, system_clock())->ping(), Error);
  }
}

}  // namespace ringshard::testing
