#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "router/hooked_backend.hpp"
#include "router/view.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace fs = std::filesystem;

namespace {

constexpr ShardId shard{0};  // placed on node a

Config with_cache(const RouterFleet& fleet) {
  Config config = fleet.config;
  config.router.topology_cache = (fleet.folder / "cache/topology").string();
  return config;
}

void hide(const fs::path& file) { fs::rename(file, file.string() + ".hidden"); }
void bring_back(const fs::path& file) { fs::rename(file.string() + ".hidden", file); }

// What the shell's .backup and .restore do.
void restore(const fs::path& from, const fs::path& to) {
  sqlite3* source = nullptr;
  sqlite3* target = nullptr;
  REQUIRE(sqlite3_open(from.c_str(), &source) == SQLITE_OK);
  REQUIRE(sqlite3_open(to.c_str(), &target) == SQLITE_OK);
  sqlite3_busy_timeout(target, 10'000);
  sqlite3_backup* backup = sqlite3_backup_init(target, "main", source, "main");
  REQUIRE(backup != nullptr);
  CHECK(sqlite3_backup_step(backup, -1) == SQLITE_DONE);
  sqlite3_backup_finish(backup);
  sqlite3_close(source);
  sqlite3_close(target);
}

std::string node_of(const Cluster& cluster, ShardId of) {
  const auto topology = cluster.topology();
  return topology->node(topology->node_of(of)).name;
}

// Waits for what another thread is bound to do; the test's own time limit ends it otherwise.
void wait_until(const std::function<bool()>& holds) {
  while (!holds()) system_clock().sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("a cluster starts and works from the cached topology while the catalog is away") {
  RouterFleet fleet;
  const Config config = with_cache(fleet);
  { Cluster first = Cluster::open(config); }
  REQUIRE(fs::exists(*config.router.topology_cache));
  CHECK((fs::status(*config.router.topology_cache).permissions() &
         (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
  hide(fleet.folder / "catalog.db");

  Cluster cluster = Cluster::open(config);
  const std::int64_t customer = fleet.key_of(shard);
  CHECK(add_item(cluster, customer, 1) == 1);
  CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 1);
  CHECK(cluster.statistics().refreshes == 0);
  CHECK_THROWS_AS(cluster.refresh(), Error);

  bring_back(fleet.folder / "catalog.db");
  fleet.place(shard, "b");
  cluster.refresh();
  CHECK(node_of(cluster, shard) == "b");
}

TEST_CASE("a cluster that has no cached topology either says so") {
  RouterFleet fleet;
  Config config = fleet.config;
  config.catalog = "sqlite:" + (fleet.folder / "a").string();  // a folder: it can not be opened
  CHECK(code_of([&] { Cluster::open(config); }) == ErrorCode::unavailable);
  config.catalog = "sqlite:" + (fleet.folder / "nothing.db").string();
  CHECK(code_of([&] { Cluster::open(config); }) == ErrorCode::not_found);
}

TEST_CASE("a cached topology of another keyspace or catalog is refused") {
  RouterFleet fleet;
  Config config = with_cache(fleet);
  const fs::path catalog = fleet.folder / "catalog.db";
  TopologyData other = Cluster::open(config).topology()->data();

  SECTION("of another keyspace, without a catalog") {
    other.keyspace = "other";
    std::ofstream(*config.router.topology_cache) << serialize(Topology(other));
    hide(catalog);
    CHECK(code_of([&] { Cluster::open(config); }) == ErrorCode::refused);
  }
  SECTION("of another keyspace, with a catalog") {
    other.keyspace = "other";
    std::ofstream(*config.router.topology_cache) << serialize(Topology(other));
    CHECK(code_of([&] { Cluster::open(config); }) == ErrorCode::refused);
  }
  SECTION("of another catalog, when the right one comes back") {
    other.catalog_id = "somebody else's";
    std::ofstream(*config.router.topology_cache) << serialize(Topology(other));
    hide(catalog);
    Cluster cluster = Cluster::open(config);
    bring_back(catalog);
    CHECK(code_of([&] { cluster.refresh(); }) == ErrorCode::refused);
    CHECK(cluster.topology()->catalog_id() == "somebody else's");
  }
  SECTION("cut off, without a catalog") {
    fs::resize_file(*config.router.topology_cache, 40);
    hide(catalog);
    CHECK(code_of([&] { Cluster::open(config); }) == ErrorCode::corrupt);
  }
  SECTION("cut off, with a catalog: it is written anew") {
    fs::resize_file(*config.router.topology_cache, 40);
    { Cluster cluster = Cluster::open(config); }
    hide(catalog);
    CHECK(Cluster::open(config).shard_count() == 4);
  }
}

TEST_CASE("a new placement is noticed by polling") {
  RouterFleet fleet({.router = "poll_interval: 10ms"});
  Cluster cluster = Cluster::open(fleet.config);
  fleet.place(shard, "b");
  wait_until([&] { return node_of(cluster, shard) == "b"; });
  CHECK(cluster.topology()->version() == fleet.catalog().version("shop"));
}

TEST_CASE("a refresh gives what the catalog had when it was asked for, to all who ask at once") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  Cluster cluster = Cluster::open(fleet.config);
  for (int round = 0; round < 5; ++round) {
    const std::string target = round % 2 == 0 ? "b" : "a";
    fleet.place(shard, target);
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        cluster.refresh();
        if (node_of(cluster, shard) == target) ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 8);
  }
  CHECK(cluster.statistics().refreshes == 6);
}

TEST_CASE("what was learned under an old topology does not get into the new one") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  const auto topology =
      std::make_shared<const Topology>(fleet.catalog().topology(fleet.keyspace.name));
  const router::View old(topology, {});
  const router::View fresh(topology, {});
  old.learn(shard, NodeIndex{1});
  CHECK(old.place_of(shard) == NodeIndex{1});
  CHECK(fresh.place_of(shard) == NodeIndex{0});
}

TEST_CASE("a look-up older than a change of the version does not bring back the old place") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  // One call reads the old home's record and stops there; meanwhile the shard moves and the
  // topology follows.
  Gate reached;
  Gate release;
  std::atomic<bool> armed{false};
  Hooks hooks;
  hooks.begin = [&](const HomeName& home, TxMode, SessionUse) {
    if (home.shard == shard && armed.exchange(false)) {
      reached.open();
      release.wait();
    }
  };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks, "/b"));
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  armed = true;
  std::thread slow([&] { cluster.query(customer, "SELECT 1"); });
  reached.wait();  // it found that a is not the owner and asks b
  fleet.decide(shard, "b", "a");
  fleet.promote(shard, "b", "a");
  fleet.place(ShardId{1}, "a");
  cluster.refresh();
  release.open();
  slow.join();
  const std::uint64_t redirects = cluster.statistics().redirects;
  CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 1);
  CHECK(cluster.statistics().redirects == redirects);  // it went to a at once
}

TEST_CASE("a catalog that was restored from an older copy is followed too") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  const fs::path file = fleet.folder / "catalog.db";
  const fs::path copy = fleet.folder / "catalog.copy";
  restore(file, copy);
  for (const char* node : {"b", "a", "b"}) fleet.place(ShardId{2}, node);  // newer than the copy
  fleet.place(shard, "b");  // where it is not: the restored catalog is right
  Cluster cluster = Cluster::open(fleet.config);
  const std::uint64_t newer = cluster.topology()->version();
  restore(copy, file);

  // It finds no home where it looks, asks the catalog, and goes where that says.
  CHECK(add_item(cluster, fleet.key_of(shard), 1) == 1);
  CHECK(cluster.topology()->version() < newer);
}

TEST_CASE("a keyspace that is being imported is refused") {
  RouterFleet fleet;
  fleet.catalog().set_keyspace_state("shop", KeyspaceState::importing);
  CHECK(code_of([&] { Cluster::open(fleet.config); }) == ErrorCode::refused);
}

TEST_CASE("a node that gets another DSN is reached there from the next topology on") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fs::rename(fleet.folder / "a", fleet.folder / "elsewhere");
  fleet.nodes[0].dsn = "sqlite:" + (fleet.folder / "elsewhere").string();
  fleet.catalog().store_nodes("shop", fleet.nodes);
  cluster.refresh();
  CHECK(add_item(cluster, customer, 2) == 1);
  CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 2);
}

TEST_CASE("a cluster that is not used stops at once, whatever its poll interval") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  for (int i = 0; i < 10; ++i) {
    Cluster cluster = Cluster::open(fleet.config);
    Cluster moved = std::move(cluster);
    CHECK(moved.shard_count() == 4);
  }
}
