#include <sqlite3.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "router/hooked_backend.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

constexpr ShardId shard{0};

}  // namespace

TEST_CASE("a write is seen by the next read of the same key") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config_path);
  const std::int64_t customer = fleet.key_of(shard);
  const std::string text = cluster.transact(customer, [&](Transaction& tx) {
    CHECK(tx.shard() == shard);
    CHECK(tx.execute("INSERT INTO item VALUES ($1, $2, $3)", 1, customer, "tea") == 1);
    return tx.query_value<std::string>("SELECT text FROM item WHERE id = $1", 1);
  });
  CHECK(text == "tea");
  CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 1);
  const auto pair = cluster.read(customer, [](ReadTransaction& tx) {
    return tx.query_optional<std::int64_t, std::optional<std::string>>("SELECT id, text FROM item");
  });
  REQUIRE(pair);
  CHECK(std::get<1>(*pair) == "tea");
  CHECK_FALSE(cluster.query_optional<std::int64_t>(customer, "SELECT id FROM item WHERE id = 9"));
  CHECK(cluster.statistics().writes == 1);
}

TEST_CASE("work that throws is rolled back and its exception is passed on, after one attempt") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  int runs = 0;
  const auto failing = [&](auto exception) {
    cluster.transact(customer, [&](Transaction& tx) {
      ++runs;
      tx.execute("INSERT INTO item VALUES (1, $1, 'x')", customer);
      throw exception;
    });
  };
  CHECK_THROWS_AS(failing(std::runtime_error("mine")), std::runtime_error);
  CHECK(runs == 1);
  // Even one that looks like what the library itself would try again.
  CHECK(code_of([&] { failing(Error(ErrorCode::conflict, "mine")); }) == ErrorCode::conflict);
  CHECK(code_of([&] { failing(Error(ErrorCode::not_owner, "mine")); }) == ErrorCode::not_owner);
  CHECK(runs == 3);
  CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 0);
}

TEST_CASE("an outcome that is unknown is never tried again") {
  RouterFleet fleet;
  Hooks hooks;
  hooks.after_commit = [](const HomeName&, SessionUse) {
    throw Error(ErrorCode::outcome_unknown, "the connection was lost during COMMIT");
  };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks));
  const std::int64_t customer = fleet.key_of(shard);
  int runs = 0;
  std::optional<Error> met;
  try {
    cluster.transact(customer, [&](Transaction& tx) {
      ++runs;
      tx.execute("INSERT INTO item VALUES ($1, $2, 'x')", runs, customer);
    });
  } catch (const Error& error) {
    met = error;
  }
  REQUIRE(met);
  CHECK(met->outcome_unknown());
  CHECK(met->shard() == shard);
  CHECK(runs == 1);
  CHECK(fleet.integer("a", shard, count_items) == 1);
  CHECK(cluster.statistics().retries == 0);
}

TEST_CASE("a commit that certainly did not happen is tried again with the whole work") {
  RouterFleet fleet;
  std::atomic<int> commits{0};
  Hooks hooks;
  hooks.before_commit = [&](const HomeName&, SessionUse) {
    if (++commits == 1) throw Error(ErrorCode::conflict, "serialization failure");
  };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks));
  const std::int64_t customer = fleet.key_of(shard);
  int runs = 0;
  cluster.transact(customer, [&](Transaction& tx) {
    ++runs;
    tx.execute("INSERT INTO item VALUES ($1, $2, 'x')", runs, customer);
  });
  CHECK(runs == 2);
  CHECK(fleet.integer("a", shard, "SELECT sum(id) FROM item") == 2);
  CHECK(cluster.statistics().retries == 1);
}

TEST_CASE("a conflict at the beginning runs only the beginning again") {
  RouterFleet fleet;
  std::atomic<int> begins{0};
  Hooks hooks;
  hooks.begin = [&](const HomeName&, TxMode, SessionUse) {
    if (++begins <= 3) throw Error(ErrorCode::conflict, "locked");
  };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks));
  int runs = 0;
  cluster.transact(shard, [&](Transaction&) { ++runs; });
  CHECK(runs == 1);
  CHECK(cluster.statistics().retries == 3);

  begins = -1'000'000;
  CHECK(code_of([&] {
          cluster.transact(shard, [&](Transaction&) { ++runs; }, {.attempts_max = 2});
        }) == ErrorCode::conflict);
  CHECK(runs == 1);
}

TEST_CASE("a function that ends the transaction itself is told that its outcome is unknown") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const auto ends = [&] {
    cluster.transact(shard, [](Transaction& tx) {
      sqlite3_exec(tx.native_handle<sqlite3>(), "ROLLBACK", nullptr, nullptr, nullptr);
    });
  };
  CHECK(code_of(ends) == ErrorCode::outcome_unknown);
  CHECK(add_item(cluster, fleet.key_of(shard), 1) == 1);
}

TEST_CASE("the native handle works inside the transaction") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const auto insert = [](Transaction& tx) {
    return sqlite3_exec(tx.native_handle<sqlite3>(), "INSERT INTO item VALUES (1, 2, 'native')",
                        nullptr, nullptr, nullptr);
  };
  CHECK(cluster.transact(shard, insert) == SQLITE_OK);
  CHECK(cluster.query_value<std::string>(shard, "SELECT text FROM item") == "native");
  const auto fails = [&](Transaction& tx) {
    insert(tx);
    sqlite3_exec(tx.native_handle<sqlite3>(), "DELETE FROM item", nullptr, nullptr, nullptr);
    throw std::runtime_error("no");
  };
  CHECK_THROWS_AS(cluster.transact(shard, fails), std::runtime_error);
  CHECK(cluster.query_value<std::int64_t>(shard, count_items) == 1);
}

TEST_CASE("a node has no more connections than its pool allows") {
  RouterFleet fleet(
      {.nodes = 1, .shards = 1, .router = "pool_size_max: 2, pool_wait: 20ms, deadline: 200ms"});
  Cluster cluster = Cluster::open(fleet.config);
  Gate release;
  std::atomic<int> inside{0};
  Gate both_inside;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      cluster.read(shard,
                   [&](ReadTransaction& tx) {
                     tx.query("SELECT 1");
                     if (++inside == 2) both_inside.open();
                     release.wait();
                   },
                   {.deadline = std::chrono::seconds(60)});
    });
  }
  both_inside.wait();
  const auto third = code_of([&] { cluster.query(shard, "SELECT 1"); });
  release.open();
  for (std::thread& reader : readers) reader.join();
  CHECK(third == ErrorCode::pool_exhausted);
  CHECK(cluster.query(shard, "SELECT 1").size() == 1);
}

TEST_CASE("a slow node does not stop requests to the others") {
  RouterFleet fleet;
  Gate release;
  Gate reached;
  Hooks hooks;
  hooks.begin = [&](const HomeName&, TxMode, SessionUse) {
    reached.open();
    release.wait();
  };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks, "/b"));
  std::thread stuck([&] { cluster.query(ShardId{1}, "SELECT 1"); });
  reached.wait();
  for (int i = 0; i < 20; ++i) CHECK(add_item(cluster, fleet.key_of(ShardId{0}), i) == 1);
  release.open();
  stuck.join();
}

TEST_CASE("a broken node fails its own shards only, with the shard and the node in the error") {
  RouterFleet fleet({.router = "deadline: 100ms"});
  Hooks hooks;
  hooks.connect = [](const HomeName&) { throw Error(ErrorCode::unavailable, "no route to host"); };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks, "/b"));
  std::optional<Error> met;
  try {
    cluster.query(ShardId{1}, "SELECT 1");
  } catch (const Error& error) {
    met = error;
  }
  REQUIRE(met);
  CHECK(met->code() == ErrorCode::unavailable);
  CHECK(met->retryable());
  CHECK(met->shard() == ShardId{1});
  CHECK(std::string(met->what()).find("node 'b'") != std::string::npos);
  CHECK(cluster.query(ShardId{0}, "SELECT 1").size() == 1);
}

TEST_CASE("a key of the wrong kind and a shard that there is not are refused") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  CHECK(code_of([&] { cluster.query("text", "SELECT 1"); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { cluster.query(ShardId{99}, "SELECT 1"); }) == ErrorCode::not_found);
  CHECK(code_of([&] { cluster.query(shard, "SELEC 1"); }) == ErrorCode::sql);
  CHECK(cluster.shard_count() == 4);
}
