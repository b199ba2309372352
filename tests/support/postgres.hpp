#pragma once

#include <string>

namespace ringshard::testing {

/// A real PostgreSQL server for tests, started by whoever runs them (see tests/postgres.sh), as an
/// ordinary role that may make databases. Empty where there is none.
std::string postgres_server();

/// One statement in the database of a DSN, as psql would run it.
void run_postgres(const std::string& dsn, const std::string& sql);

/// An empty database on it, dropped at the end.
class TestDatabase {
 public:
  explicit TestDatabase(const std::string& name);
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase();

  std::string dsn() const;
  /// The same through PgBouncer in transaction mode; empty where it is not installed.
  std::string pooled_dsn() const;

 private:
  std::string server_;
  std::string name_;
};

}  // namespace ringshard::testing
