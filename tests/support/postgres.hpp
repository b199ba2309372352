#pragma once

#include <memory>
#include <string>

namespace ringshard::testing {

/// A real PostgreSQL server for tests, started by whoever runs them (see tests/postgres.sh), as an
/// ordinary role that may make databases. Empty where there is none.
std::string postgres_server();

/// True, and said so that ctest counts the test as skipped, where there is no server.
bool no_server();

/// One statement in the database of a DSN, as psql would run it.
void run_postgres(const std::string& dsn, const std::string& sql);

/// An empty database on it, which no other test has meanwhile.
class TestDatabase {
 public:
  TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase();

  std::string dsn() const;
  /// The same through PgBouncer in transaction mode; empty where it is not installed.
  std::string pooled_dsn() const;

 private:
  struct Lock;

  std::string server_;
  std::string name_;
  std::unique_ptr<Lock> lock_;
};

}  // namespace ringshard::testing
