#pragma once

#include <string>

#include "support/paths.hpp"

namespace ringshard::testing {

/// A PostgreSQL server of one test, which may kill it. Stopped at the end of the scope.
class PostgresCluster {
 public:
  PostgresCluster();
  /// A standby that follows `source`.
  explicit PostgresCluster(const PostgresCluster& source);
  PostgresCluster& operator=(const PostgresCluster&) = delete;
  ~PostgresCluster();

  std::string folder() const { return folder_.path().string(); }

  /// Of a database that is made now.
  std::string new_database();
  std::string dsn(const std::string& database = "shop") const;

  void kill();  ///< SIGKILL for all of its processes
  void start();
  void stop();
  void promote();
  /// The DSN of its database "shop" over TLS, with a certificate for localhost that
  /// folder()/ca.crt has signed.
  std::string listen_to_tls();

 private:
  void run(const std::string& command, const std::string& more = {}) const;

  TemporaryFolder folder_;
  int databases_ = 0;
};

}  // namespace ringshard::testing
