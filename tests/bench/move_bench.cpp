// What a move costs: copying and comparing rows beside the same done with bare sqlite3 on the same
// files, and how long writers are held by a handover.

#include <benchmark/benchmark.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <ringshard/ringshard.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "catalog/catalog.hpp"
#include "mover/backfill.hpp"
#include "mover/mover.hpp"
#include "world.hpp"

namespace {

using namespace ringshard;
using namespace ringshard::bench;

constexpr std::int64_t rows = 200'000;
constexpr const char* make_table =
    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, note TEXT)";
constexpr const char* fill_table =
    "INSERT INTO item WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT $1) "
    "SELECT i, 'the name of item ' || i, i * 0.25, 'a note of about forty characters, ' || i "
    "FROM n";
constexpr const char* scan_table =
    "SELECT count(*), sum(length(id) + length(name) + length(price) + length(note)) FROM item";

HomeSchema schema() {
  HomeSchema schema;
  schema.statements = {make_table};
  return schema;
}

/// Bare sqlite3 on a home's file, as durable as a session of ringshard is by default.
class Bare {
 public:
  explicit Bare(const std::string& file) {
    check(sqlite3_open(file.c_str(), &database_));
    sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    run("PRAGMA synchronous = FULL");
  }
  Bare(const Bare&) = delete;
  Bare& operator=(const Bare&) = delete;
  ~Bare() { sqlite3_close(database_); }
  void run(const std::string& sql) {
    check(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(database_));
  }
  sqlite3* database_ = nullptr;
};

/// One shard whose rows are on node a; node b is to get them.
class Copy {
 public:
  Copy() : nodes_({a_, b_}, system_clock(), {}) {
    make_home(a_, leg_.owner_record(), schema());
    in_home(a_, leg_.home, [](HomeStore& store, const HomeRecord&) {
      store.session().execute(fill_table, {rows});
      install_capture(store);
    });
  }

  /// Makes the target's home, empty.
  void renew_target() {
    const auto backend = open_backend(b_.dsn, system_clock());
    backend->prepare_node();
    backend->drop_home(leg_.home);
    make_home(b_, leg_.mirror_record(), schema());
    in_home(b_, leg_.home, [](HomeStore& store, const HomeRecord&) { install_capture(store); });
  }

  void backfill() {
    HomePair pair(nodes_, leg_);
    const MoveOptions options;
    Backfill backfill(pair, options);
    for (const Table& table : common_tables(pair)) {
      while (!backfill.copy_chunk(table).table_complete) {
      }
    }
  }

  Digest digest() {
    HomePair pair(nodes_, leg_);
    OwnerTransaction tx(pair, TxMode::read, Deadline());
    const HomeSchema found = tx.store().dialect().describe_schema(tx.store().session());
    return tx.store().dialect().digest(tx.store().session(), found.tables.at(0), KeyRange{});
  }

  std::string source_file() const { return folder_ / "a/bench_0.db"; }
  std::string target_file() const { return folder_ / "b/bench_0.db"; }

 private:
  Folder folder_;
  NodeInfo a_ = node_in(folder_, "a");
  NodeInfo b_ = node_in(folder_, "b");
  Leg leg_{.home = {"bench", ShardId{0}},
           .move_id = "move",
           .mover = "bench",
           .number = 1,
           .owner = "a",
           .mirror = "b"};
  Nodes nodes_;
};

// One for all repetitions: the rows do not change.
Copy& copy() {
  static Copy copy;
  return copy;
}

template <class Work>
void copy_rows(benchmark::State& state, const Work& work) {
  for (auto _ : state) {
    copy().renew_target();
    const auto began = std::chrono::steady_clock::now();
    work();
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  state.SetItemsProcessed(state.iterations() * rows);
}

void backfill(benchmark::State& state) {
  copy_rows(state, [] { copy().backfill(); });
}
BENCHMARK(backfill)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void attach_insert_select(benchmark::State& state) {
  copy_rows(state, [] {
    Bare target(copy().target_file());
    target.run("ATTACH '" + copy().source_file() + "' AS source");
    target.run("INSERT INTO main.item SELECT * FROM source.item");
  });
}
BENCHMARK(attach_insert_select)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void digest(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(copy().digest());
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(digest)->UseRealTime()->Unit(benchmark::kMillisecond);

void plain_scan(benchmark::State& state) {
  for (auto _ : state) Bare(copy().source_file()).run(scan_table);
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(plain_scan)->UseRealTime()->Unit(benchmark::kMillisecond);

/// 64 shards on node a, which all move to node b while four threads write.
class Moves {
 public:
  static constexpr std::uint32_t shards = 64;

  Moves() {
    KeyspaceDefinition keyspace;
    keyspace.name = "bench";
    keyspace.key_type = "int64";
    keyspace.shard_count = shards;
    keyspace.state = KeyspaceState::ready;
    keyspace.schemas["sqlite"].home = schema();
    const std::vector<NodeInfo> nodes{node_in(folder_, "a"), node_in(folder_, "b")};
    std::vector<MoveRecord> moves;
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      HomeRecord record;
      record.keyspace = keyspace.name;
      record.shard = ShardId{shard};
      make_home(nodes[0], record, keyspace.schemas["sqlite"].home);
      in_home(nodes[0], {keyspace.name, ShardId{shard}}, [](HomeStore& store, const HomeRecord&) {
        store.session().execute(fill_table, {std::int64_t{500}});
      });
      MoveRecord move;
      move.id = "move-" + std::to_string(shard);
      move.plan_id = "plan";
      move.keyspace = keyspace.name;
      move.shard = ShardId{shard};
      move.source = "a";
      move.target = "b";
      moves.push_back(std::move(move));
    }
    open_backend(nodes[1].dsn, system_clock())->prepare_node();
    config_.catalog = "sqlite:" + (folder_ / "catalog.db");
    config_.keyspace.name = keyspace.name;
    Catalog catalog = Catalog::create(config_.catalog, system_clock());
    catalog.create_keyspace(keyspace, nodes, std::vector<std::uint16_t>(shards, 0));
    catalog.start_plan(keyspace.name, "plan", catalog.version(keyspace.name), nodes, moves);
  }

  /// The pause of each move in microseconds, sorted.
  std::vector<std::int64_t> run() {
    Cluster cluster = Cluster::open(config_);
    std::vector<std::thread> writers;
    for (unsigned i = 0; i < 4; ++i) writers.emplace_back([&, i] { write(cluster, i); });
    std::vector<std::int64_t> pauses;
    try {
      pauses = move_all();
    } catch (...) {
      stop(writers);
      throw;
    }
    stop(writers);
    if (failed_) throw std::runtime_error("a write failed");
    std::sort(pauses.begin(), pauses.end());
    return pauses;
  }

  double writes() const { return static_cast<double>(writes_); }

 private:
  std::vector<std::int64_t> move_all() {
    Catalog catalog = Catalog::open(config_.catalog, system_clock());
    Nodes nodes(catalog.nodes("bench"), system_clock(), {});
    MoveOptions options;
    options.observe_for = Duration(0);
    MoveObserver observer;
    std::vector<std::int64_t> pauses;
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      moving_ = shard;
      const MoveRecord move =
          Mover(catalog, nodes, options, observer).run("move-" + std::to_string(shard));
      if (move.stage != MoveStage::done) throw std::runtime_error("a move did not end");
      pauses.push_back(move.pause_us);
    }
    return pauses;
  }

  // Every other write goes to the shard that is being moved, where it meets the handover.
  void write(Cluster& cluster, unsigned seed) {
    std::minstd_rand random(seed + 1);
    while (!done_) {
      const ShardId shard{random() % 2 == 0 ? moving_.load()
                                            : static_cast<std::uint32_t>(random() % shards)};
      try {
        cluster.execute(shard, "UPDATE item SET price = price + 1 WHERE id = $1",
                        static_cast<std::int64_t>(random() % 500 + 1));
        ++writes_;
      } catch (const Error&) {
        failed_ = true;
      }
    }
  }

  void stop(std::vector<std::thread>& writers) {
    done_ = true;
    for (std::thread& writer : writers) writer.join();
  }

  Folder folder_;
  Config config_;
  std::atomic<std::uint32_t> moving_{0};
  std::atomic<bool> done_{false};
  std::atomic<bool> failed_{false};
  std::atomic<std::int64_t> writes_{0};
};

double percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return static_cast<double>(sorted.at(std::max<std::size_t>(rank, 1) - 1));
}

void cutover(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Moves moves;
    state.ResumeTiming();
    const std::vector<std::int64_t> pauses = moves.run();
    state.counters["pause_us_p50"] = percentile(pauses, 50);
    state.counters["pause_us_p99"] = percentile(pauses, 99);
    state.counters["pause_us_max"] = static_cast<double>(pauses.back());
    state.counters["moves"] = static_cast<double>(pauses.size());
    state.counters["writes"] = moves.writes();
  }
}
BENCHMARK(cutover)->UseRealTime()->Iterations(1)->Repetitions(1)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
