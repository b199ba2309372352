#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ringshard/ringshard.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.hpp"
#include "mover/mover.hpp"
#include "support/fault.hpp"
#include "support/paths.hpp"
#include "support/postgres.hpp"

namespace ringshard::testing {

enum class Engine {
  sqlite,
  postgres,
  pgbouncer  ///< PostgreSQL behind PgBouncer in transaction mode
};

/// A node, and what homes are made of there.
struct Side {
  Engine engine;
  std::string_view schema_sql;
  std::string dsn = {};  ///< empty: a new database of the tests' server
};

/// Two real nodes with one shard's home on the first of them, and all that moves it; the catalog is
/// in a database of that one's kind. The last two engines need the tests' server.
///
///     MoveWorld world("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)");
///     world.sql("INSERT INTO item VALUES (1, 'one')");
///     world.move();                       // → observing, at "target"
class MoveWorld {
 public:
  static constexpr ShardId shard{0};

  explicit MoveWorld(std::string_view schema_sql, Engine engine = Engine::sqlite)
      : MoveWorld(Side{engine, schema_sql}, Side{engine, schema_sql}) {}
  MoveWorld(const Side& source, const Side& target);

  const HomeName& home() const { return home_; }
  Config config() const;
  Cluster cluster() const { return Cluster::open(config()); }
  Catalog catalog() const;
  MoveRecord record() const;

  MoveOptions options;  ///< of the movers below; small chunks

  /// Runs the move until it observes, is final or fails. A mover of its own each time, as a new
  /// process would.
  MoveRecord run();
  VerifyReport verify();
  /// What an operator wants, carried out.
  MoveRecord abort() { return wish_and_run(MoveWish::abort); }
  MoveRecord roll_back() { return wish_and_run(MoveWish::roll_back); }
  MoveRecord finalize() { return wish_and_run(MoveWish::finalize); }
  MoveRecord wish_and_run(MoveWish wish);

  /// A statement in a home, as a program that knows nothing of ringshard runs it: triggers and
  /// foreign keys work.
  void sql(std::string_view statements, std::string_view node = "source");
  /// The same as ringshard writes: nothing fires, nothing is captured.
  void damage(std::string_view statements, std::string_view node = "target");

  Backend& backend(std::string_view node);
  std::optional<HomeRecord> home_record(std::string_view node);
  std::vector<Row> rows(std::string_view query, std::string_view node);

  /// All rows of all tables in a home, and what is left of ringshard's own things there.
  std::map<std::string, std::vector<std::string>> content(std::string_view node);
  bool has_capture(std::string_view node);

  /// The configuration as a file, for the program.
  void write_config(std::string_view pause_budget = "5s") const;
  std::filesystem::path config_file() const { return folder_ / "ringshard.yaml"; }

  /// Makes the lease of a mover that was killed run out now.
  void expire_lease();

  const TemporaryFolder& folder() const { return folder_; }
  std::string dsn(std::string_view node) const;

 private:
  void script(std::string_view statements, std::string_view node, SessionUse use);

  std::string catalog_dsn() const;

  TemporaryFolder folder_;
  HomeName home_;
  std::map<std::string, Engine, std::less<>> engines_;
  std::map<std::string, std::string, std::less<>> dsns_;  // that were given
  std::map<std::string, std::unique_ptr<TestDatabase>, std::less<>> databases_;  // of PostgreSQL
  std::map<std::string, std::unique_ptr<Backend>, std::less<>> backends_;
};

/// Runs `action` when a fault point is reached for the n-th time, once; removes itself at the end
/// of the scope.
class AtPoint {
 public:
  AtPoint(FaultPoint point, std::function<void()> action, int nth = 1);
  AtPoint(const AtPoint&) = delete;
  AtPoint& operator=(const AtPoint&) = delete;
  ~AtPoint() { fault::set_handler({}); }

  bool reached() const { return *reached_; }

 private:
  std::shared_ptr<std::atomic<bool>> reached_;
};

}  // namespace ringshard::testing
