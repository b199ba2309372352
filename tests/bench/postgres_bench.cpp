// The same as in transact_bench and move_bench on two real PostgreSQL servers, whose DSNs are in
// RINGSHARD_BENCH_POSTGRES_A and _B. Peers: bare libpq in three messages, `psql COPY | psql COPY`
// into the same table with its key, and count with a sum of row hashes.

#include <benchmark/benchmark.h>
#include <libpq-fe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
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

constexpr std::int64_t rows = 125'000;
constexpr const char* make_table =
    "CREATE TABLE orders (shard_id int, user_id bigint, order_id bigint, total numeric(12, 2), "
    "state text, note text, extra jsonb, made timestamptz, PRIMARY KEY (shard_id, user_id, "
    "order_id))";
constexpr const char* fill_table =
    "INSERT INTO orders SELECT 7, i / 10, i, i * 0.01, 'shipped', 'a note of about forty "
    "characters, ' "
    "|| i, '{\"channel\": \"web\", \"items\": 3}', timestamptz '2024-01-01 00:00+00' + i * "
    "interval '1 "
    "second' FROM generate_series(1, $1) AS i";
constexpr const char* upsert =
    "INSERT INTO orders (shard_id, user_id, order_id, total) VALUES (7, $1, $2, 1) ON CONFLICT "
    "(shard_id, user_id, order_id) DO UPDATE SET total = orders.total + 1";

std::string dsn_of(const char* variable) {
  const char* dsn = std::getenv(variable);
  if (dsn == nullptr) throw std::runtime_error(std::string(variable) + " is not set");
  return dsn;
}

NodeInfo node(const std::string& name) {
  NodeInfo info;
  info.name = name;
  info.dsn = dsn_of(name == "a" ? "RINGSHARD_BENCH_POSTGRES_A" : "RINGSHARD_BENCH_POSTGRES_B");
  return info;
}

HomeSchema schema() {
  HomeSchema schema;
  schema.statements = {make_table};
  return schema;
}

/// Bare libpq.
class Bare {
 public:
  explicit Bare(const std::string& dsn) : connection_(PQconnectdb(dsn.c_str()), PQfinish) {}

  void run(const std::string& sql) { check(PQexec(connection_.get(), sql.c_str())); }
  void run(const std::string& sql, std::int64_t first, std::int64_t second) {
    const std::string texts[] = {std::to_string(first), std::to_string(second)};
    const char* values[] = {texts[0].c_str(), texts[1].c_str()};
    check(PQexecParams(connection_.get(), sql.c_str(), 2, nullptr, values, nullptr, nullptr, 0));
  }

 private:
  void check(PGresult* result) {
    const ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(PQerrorMessage(connection_.get()));
  }
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

/// Shards on node a, in a keyspace of their own.
class World {
 public:
  World(const std::string& keyspace, std::uint32_t shards, std::int64_t rows_each)
      : keyspace_(keyspace), shards_(shards) {
    KeyspaceDefinition definition;
    definition.name = keyspace;
    definition.key_type = "int64";
    definition.shard_count = shards;
    definition.state = KeyspaceState::ready;
    definition.schemas["postgres"].home = schema();
    for (const NodeInfo& at : nodes_) {
      const auto backend = open_backend(at.dsn, system_clock());
      for (const HomeName& home : backend->homes(keyspace)) backend->drop_home(home);
    }
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      HomeRecord record;
      record.keyspace = keyspace;
      record.shard = ShardId{shard};
      make_home(nodes_[0], record, schema());
      in_home(nodes_[0], home(shard), [&](HomeStore& store, const HomeRecord&) {
        store.session().execute(fill_table, {rows_each});
      });
    }
    config.catalog = "sqlite:" + (folder_ / "catalog.db");
    config.keyspace.name = keyspace;
    Catalog::create(config.catalog, system_clock())
        .create_keyspace(definition, nodes_, std::vector<std::uint16_t>(shards, 0));
  }

  HomeName home(std::uint32_t shard) const { return {keyspace_, ShardId{shard}}; }
  Leg leg() const {
    return {.home = home(0),
            .move_id = "move",
            .mover = "bench",
            .number = 1,
            .owner = "a",
            .mirror = "b"};
  }

  /// Both homes as they are while the first shard is moved; the target is empty.
  void begin_move() {
    const auto backend = open_backend(nodes_[1].dsn, system_clock());
    backend->drop_home(home(0));
    make_home(nodes_[1], leg().mirror_record(), schema());
    in_home(nodes_[1], home(0),
            [](HomeStore& store, const HomeRecord&) { install_capture(store); });
    in_home(nodes_[0], home(0), [&](HomeStore& store, const HomeRecord&) {
      install_capture(store);
      store.store_record(leg().owner_record());
    });
  }

  std::vector<MoveRecord> plan() {
    std::vector<MoveRecord> moves;
    for (std::uint32_t shard = 0; shard < shards_; ++shard) {
      MoveRecord move;
      move.id = "move-" + std::to_string(shard);
      move.plan_id = "plan";
      move.keyspace = keyspace_;
      move.shard = ShardId{shard};
      move.source = "a";
      move.target = "b";
      moves.push_back(std::move(move));
    }
    Catalog catalog = Catalog::open(config.catalog, system_clock());
    catalog.start_plan(keyspace_, "plan", catalog.version(keyspace_), nodes_, moves);
    return moves;
  }

  Config config;

 private:
  Folder folder_;
  const std::string keyspace_;
  const std::uint32_t shards_;
  const std::vector<NodeInfo> nodes_{node("a"), node("b")};
};

World& copy_world() {
  static World world("copying", 1, rows);
  return world;
}

template <class Work>
void copy_rows(benchmark::State& state, const Work& work) {
  for (auto _ : state) {
    copy_world().begin_move();
    const auto began = std::chrono::steady_clock::now();
    work();
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  state.SetItemsProcessed(state.iterations() * rows);
}

void postgres_backfill(benchmark::State& state) {
  Nodes nodes({node("a"), node("b")}, system_clock(), {});
  copy_rows(state, [&nodes] {
    HomePair pair(nodes, copy_world().leg());
    const MoveOptions options;
    Backfill backfill(pair, options);
    for (const Table& table : common_tables(pair))
      while (!backfill.copy_chunk(table).table_complete) {
      }
  });
}
BENCHMARK(postgres_backfill)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void psql_copy(benchmark::State& state) {
  copy_rows(state, [] {
    Bare(node("b").dsn)
        .run(std::string(
                 "DROP SCHEMA IF EXISTS peer CASCADE; CREATE SCHEMA peer; SET search_path TO "
                 "peer; ") +
             make_table);
    const std::string command = "psql '" + node("a").dsn +
                                "' -qc 'COPY copying_0.orders TO STDOUT' | psql '" + node("b").dsn +
                                "' -qc 'COPY peer.orders FROM STDIN'";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("psql failed");
  });
}
BENCHMARK(psql_copy)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

void postgres_digest(benchmark::State& state) {
  const auto backend = open_backend(node("a").dsn, system_clock());
  copy_world();
  const HomeName home = copy_world().home(0);
  const auto session = backend->connect(home, SessionUse::maintenance);
  for (auto _ : state) {
    SessionTransaction tx(*session, home, TxMode::read, Deadline());
    const HomeSchema found = backend->dialect().describe_schema(*session);
    benchmark::DoNotOptimize(backend->dialect().digest(*session, found.tables.at(0), KeyRange{}));
  }
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(postgres_digest)->UseRealTime()->Unit(benchmark::kMillisecond);

void sum_of_hashes(benchmark::State& state) {
  copy_world();
  Bare bare(node("a").dsn);
  for (auto _ : state)
    bare.run("SELECT count(*), sum(hashtextextended(o::text, 0)::numeric) FROM copying_0.orders o");
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(sum_of_hashes)->UseRealTime()->Unit(benchmark::kMillisecond);

void transact(benchmark::State& state, bool mirrored) {
  static World plain("writing", 1, 10'000);
  static World moved("doubling", 1, 0);
  static const bool begun = (moved.begin_move(), true);
  static_cast<void>(begun);
  Cluster cluster = Cluster::open((mirrored ? moved : plain).config);
  std::int64_t i = 0;
  for (auto _ : state) {
    const std::int64_t id = ++i % 10'000;
    cluster.transact(ShardId{0}, [&](Transaction& tx) { tx.execute(upsert, id / 10, id); });
  }
  if (mirrored && cluster.statistics().mirror_failures > 0)
    throw std::runtime_error("a write was not mirrored");
}
void postgres_upsert(benchmark::State& state) { transact(state, false); }
BENCHMARK(postgres_upsert)->UseRealTime()->Unit(benchmark::kMicrosecond);
void postgres_upsert_mirrored(benchmark::State& state) { transact(state, true); }
BENCHMARK(postgres_upsert_mirrored)->UseRealTime()->Unit(benchmark::kMicrosecond);

void bare_upsert(benchmark::State& state) {
  static World world("baring", 1, 10'000);
  Bare bare(node("a").dsn);
  bare.run("SET search_path TO baring_0");
  std::int64_t i = 0;
  for (auto _ : state) {
    const std::int64_t id = ++i % 10'000;
    bare.run("BEGIN");
    bare.run(upsert, id / 10, id);
    bare.run("COMMIT");
  }
}
BENCHMARK(bare_upsert)->UseRealTime()->Unit(benchmark::kMicrosecond);

/// Shards move one after the other while four threads write, half of it to the one that moves.
std::vector<std::int64_t> pauses_under_load(World& world, std::uint32_t shards) {
  const std::vector<MoveRecord> moves = world.plan();
  Cluster cluster = Cluster::open(world.config);
  std::atomic<std::uint32_t> moving{0};
  std::atomic<bool> done{false};
  std::atomic<bool> failed{false};
  std::vector<std::thread> writers;
  for (unsigned seed = 1; seed <= 4; ++seed)
    writers.emplace_back([&, seed] {
      std::minstd_rand random(seed);
      while (!done) {
        const ShardId shard{random() % 2 == 0 ? moving.load()
                                              : static_cast<std::uint32_t>(random() % shards)};
        const auto id = static_cast<std::int64_t>(random() % 2'000);
        try {
          cluster.transact(shard, [&](Transaction& tx) { tx.execute(upsert, id / 10, id); });
        } catch (const Error&) {
          failed = true;
        }
      }
    });
  std::vector<std::int64_t> pauses;
  Catalog catalog = Catalog::open(world.config.catalog, system_clock());
  Nodes nodes(catalog.nodes(world.config.keyspace.name), system_clock(), {});
  MoveOptions options;
  options.observe_for = Duration(0);
  MoveObserver observer;
  for (std::uint32_t shard = 0; shard < shards; ++shard) {
    moving = shard;
    pauses.push_back(Mover(catalog, nodes, options, observer).run(moves[shard].id).pause_us);
  }
  done = true;
  for (std::thread& writer : writers) writer.join();
  if (failed) throw std::runtime_error("a write failed");
  std::sort(pauses.begin(), pauses.end());
  return pauses;
}

void postgres_cutover(benchmark::State& state) {
  constexpr std::uint32_t shards = 32;
  for (auto _ : state) {
    World world("pausing", shards, 2'000);
    const std::vector<std::int64_t> pauses = pauses_under_load(world, shards);
    const auto percentile = [&](std::size_t percent) {
      const std::size_t rank = (pauses.size() * percent + 99) / 100;
      return static_cast<double>(pauses.at(std::max<std::size_t>(rank, 1) - 1));
    };
    state.counters["pause_us_p50"] = percentile(50);
    state.counters["pause_us_p99"] = percentile(99);
    state.counters["pause_us_max"] = percentile(100);
  }
}
BENCHMARK(postgres_cutover)
    ->UseRealTime()
    ->Iterations(1)
    ->Repetitions(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
