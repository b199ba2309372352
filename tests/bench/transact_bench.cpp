// One single-row write and one single-row read through the router, beside the same with bare
// sqlite3 on a file of its own, in the same journal mode and with the same durability.
//
// Pairs: <work>/<mode>/ringshard against <work>/<mode>/sqlite3. Work: update, insert, read, and
// update_mirrored (a home that is being moved: a double write) against the plain update of the
// router.

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <ringshard/ringshard.hpp>
#include <stdexcept>
#include <string>

#include "catalog/catalog.hpp"
#include "world.hpp"

namespace {

using namespace ringshard;
using namespace ringshard::bench;

constexpr std::int64_t rows = 10'000;
constexpr const char* make_table =
    "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, note TEXT)";
constexpr const char* fill_table =
    "INSERT INTO account WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
    "10000) "
    "SELECT i, 0, 'note' FROM n";
constexpr const char* update_row = "UPDATE account SET balance = balance + 1 WHERE id = $1";
constexpr const char* insert_row =
    "INSERT INTO account (balance, note) VALUES ($1, 'a new account')";
constexpr const char* read_row = "SELECT balance, note FROM account WHERE id = $1";

/// One shard on node a, with the table of accounts; node b is there for a move.
struct World {
  Folder folder;
  Config config;
  std::unique_ptr<Cluster> cluster;

  explicit World(bool full) {
    KeyspaceDefinition keyspace;
    keyspace.name = "bench";
    keyspace.key_type = "int64";
    keyspace.shard_count = 1;
    keyspace.state = KeyspaceState::ready;
    keyspace.schemas["sqlite"].home.statements = {make_table};
    const NodeInfo a = node_in(folder, "a");
    const NodeInfo b = node_in(folder, "b");
    HomeRecord record;
    record.keyspace = keyspace.name;
    make_home(a, record, keyspace.schemas["sqlite"].home);
    config.catalog = "sqlite:" + (folder / "catalog.db");
    Catalog::create(config.catalog, system_clock()).create_keyspace(keyspace, {a, b}, {0});
    config.keyspace.name = keyspace.name;
    config.sqlite.synchronous = full ? "full" : "normal";
    cluster = std::make_unique<Cluster>(Cluster::open(config));
    cluster->execute(ShardId{0}, fill_table);
    moved_ = {a, b, keyspace};
  }

  /// From now on each write is mirrored to node b.
  void begin_move() {
    HomeRecord mirror;
    mirror.keyspace = moved_.keyspace.name;
    mirror.role = Role::mirror;
    mirror.leg = 1;
    mirror.peer = "a";
    mirror.move_id = "move";
    make_home(moved_.b, mirror, moved_.keyspace.schemas["sqlite"].home);
    const HomeName home{moved_.keyspace.name, ShardId{0}};
    in_home(moved_.b, home, [](HomeStore& store, const HomeRecord&) {
      install_capture(store);
      store.session().execute(fill_table);
    });
    in_home(moved_.a, home, [](HomeStore& store, HomeRecord record) {
      install_capture(store);
      record.leg = 1;
      record.peer = "b";
      record.move_id = "move";
      store.store_record(record);
    });
  }

 private:
  struct Moved {
    NodeInfo a;
    NodeInfo b;
    KeyspaceDefinition keyspace;
  };

  Moved moved_;
};

/// The peer: what one would write by hand, with statements prepared once.
class Bare {
 public:
  explicit Bare(bool full) {
    check(sqlite3_open((folder_ / "bare.db").c_str(), &database_));
    run("PRAGMA journal_mode = WAL");
    run(full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    run("PRAGMA foreign_keys = ON");
    run(make_table);
    run(fill_table);
  }
  ~Bare() {
    for (sqlite3_stmt* statement : {begin_, begin_read_, commit_, update_, insert_, read_}) {
      sqlite3_finalize(statement);
    }
    sqlite3_close(database_);
  }

  void write(bool insert, std::int64_t value) {
    step(begin_);
    sqlite3_stmt* statement = insert ? insert_ : update_;
    sqlite3_bind_int64(statement, 1, value);
    step(statement);
    step(commit_);
  }

  std::string read(std::int64_t id) {
    step(begin_read_);
    sqlite3_bind_int64(read_, 1, id);
    if (sqlite3_step(read_) != SQLITE_ROW) throw std::runtime_error("no row");
    std::string note(reinterpret_cast<const char*>(sqlite3_column_text(read_, 1)),
                     static_cast<std::size_t>(sqlite3_column_bytes(read_, 1)));
    sqlite3_reset(read_);
    step(commit_);
    return note;
  }

  void prepare() {
    begin_ = prepared("BEGIN IMMEDIATE");
    begin_read_ = prepared("BEGIN");
    commit_ = prepared("COMMIT");
    update_ = prepared(update_row);
    insert_ = prepared(insert_row);
    read_ = prepared(read_row);
  }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  }
  void run(const char* sql) { check(sqlite3_exec(database_, sql, nullptr, nullptr, nullptr)); }
  sqlite3_stmt* prepared(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    check(sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr));
    return statement;
  }
  void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) throw std::runtime_error("statement failed");
    sqlite3_reset(statement);
  }

  Folder folder_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* begin_read_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* update_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  sqlite3_stmt* read_ = nullptr;
};

enum class Work { update, insert, read, update_mirrored };

void with_ringshard(benchmark::State& state, Work work, bool full) {
  World world(full);
  if (work == Work::update_mirrored) world.begin_move();
  std::int64_t i = 0;
  for (auto _ : state) {
    const std::int64_t id = ++i % rows + 1;
    if (work == Work::read) {
      world.cluster->read(ShardId{0}, [&](ReadTransaction& tx) {
        benchmark::DoNotOptimize(tx.query(read_row, id).at<std::string>(0, 1));
      });
    } else {
      world.cluster->transact(ShardId{0}, [&](Transaction& tx) {
        tx.execute(work == Work::insert ? insert_row : update_row, id);
      });
    }
  }
}

void with_sqlite(benchmark::State& state, Work work, bool full) {
  Bare bare(full);
  bare.prepare();
  std::int64_t i = 0;
  for (auto _ : state) {
    const std::int64_t id = ++i % rows + 1;
    if (work == Work::read) {
      benchmark::DoNotOptimize(bare.read(id));
    } else {
      bare.write(work == Work::insert, id);
    }
  }
}

void both(const char* name, Work work, bool full) {
  const std::string base = std::string(name) + (full ? "/full/" : "/normal/");
  benchmark::RegisterBenchmark((base + "sqlite3").c_str(),
                               [=](benchmark::State& state) { with_sqlite(state, work, full); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark((base + "ringshard").c_str(),
                               [=](benchmark::State& state) { with_ringshard(state, work, full); })
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  for (const bool full : {false, true}) {
    both("update", Work::update, full);
    both("insert", Work::insert, full);
    benchmark::RegisterBenchmark(
        full ? "update_mirrored/full/ringshard" : "update_mirrored/normal/ringshard",
        [=](benchmark::State& state) { with_ringshard(state, Work::update_mirrored, full); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
  }
  both("read", Work::read, false);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
