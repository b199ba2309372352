#include <atomic>
#include <string>
#include <thread>

#include "router/hooked_backend.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

constexpr ShardId shard{0};  // placed on node a

}  // namespace

TEST_CASE("a write refused by the old owner is retried at the new one") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  REQUIRE(fleet.promote(shard, "a", "b"));

  int runs = 0;
  cluster.transact(customer, [&](Transaction& tx) {
    ++runs;
    tx.execute("INSERT INTO item VALUES (2, $1, 'new')", customer);
  });
  CHECK(runs == 1);
  CHECK(fleet.integer("b", shard, count_items) == 2);
  CHECK(cluster.statistics().redirects == 1);
  // What was learned is used: the next call goes there directly.
  add_item(cluster, customer, 3);
  CHECK(cluster.statistics().redirects == 1);
  CHECK(cluster.topology()->version() == fleet.catalog().version("shop"));
}

TEST_CASE("a read after the cutover sees the new owner's rows") {
  RouterFleet fleet;
  Cluster old_reader = Cluster::open(fleet.config);
  Cluster writer = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(writer, customer, 1);
  CHECK(old_reader.query_value<std::int64_t>(customer, count_items) == 1);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  add_item(writer, customer, 2);
  CHECK(old_reader.query_value<std::int64_t>(customer, count_items) == 2);
  CHECK(old_reader.statistics().redirects == 1);
}

TEST_CASE("a router alone finishes a handover that was decided") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");

  SECTION("by a write") { add_item(cluster, customer, 2); }
  SECTION("by a read") { CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 1); }
  SECTION("by a router that looks at the new home first") {
    fleet.place(shard, "b");
    cluster.refresh();
    CHECK(cluster.topology()->node(cluster.route(customer).node).name == "b");
    add_item(cluster, customer, 2);
  }
  SECTION("by two writers at once, one of whom does it") {
    std::thread other([&] { add_item(cluster, customer, 2); });
    add_item(cluster, customer, 3);
    other.join();
  }
  CHECK(cluster.statistics().finished_handovers == 1);
  const HomeRecord owner = fleet.record("b", shard);
  CHECK(owner.role == Role::owner);
  CHECK(owner.leg == 2);
  CHECK(owner.peer == "a");
  CHECK(fleet.record("a", shard).role == Role::mirror);
}

TEST_CASE("a handover that is not decided is not finished by anybody") {
  RouterFleet fleet({.router = "deadline: 100ms"});
  Cluster cluster = Cluster::open(fleet.config);
  fleet.begin_move(shard, "a", "b");
  fleet.place(shard, "b");
  cluster.refresh();
  // The placement points at a mirror of the first leg: the router goes back to the owner.
  add_item(cluster, fleet.key_of(shard), 1);
  CHECK(fleet.record("a", shard).role == Role::owner);
  CHECK(fleet.record("b", shard).role == Role::mirror);
  CHECK(cluster.statistics().finished_handovers == 0);
}

TEST_CASE("nothing of the caller's function runs before the ownership check") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  int runs = 0;
  int locked = 0;
  FaultScope faults([&](FaultPoint point) {
    if (point != FaultPoint::write_locked) return;
    ++locked;
    CHECK(runs == 0);
  });
  cluster.transact(shard, [&](Transaction& tx) {
    ++runs;
    tx.execute("INSERT INTO item VALUES (1, 1, 'x')");
  });
  CHECK(locked == 1);
  CHECK(runs == 1);
  CHECK(fleet.integer("b", shard, count_items) == 1);
}

TEST_CASE("without an owner a call says what was found where, and its function never runs") {
  RouterFleet fleet({.router = "deadline: 150ms"});
  Cluster cluster = Cluster::open(fleet.config);
  fleet.in_home("a", shard, TxMode::write, [](HomeStore& store, HomeRecord& record) {
    record.role = Role::mirror;
    record.leg = 4;
    record.peer = "nowhere";
    store.store_record(record);
  });
  int runs = 0;
  std::optional<Error> met;
  try {
    cluster.transact(shard, [&](Transaction&) { ++runs; });
  } catch (const Error& error) {
    met = error;
  }
  REQUIRE(met);
  CHECK(met->code() == ErrorCode::not_owner);
  CHECK(met->shard() == shard);
  const std::string text = met->what();
  CHECK(text.find("node 'a' has a home that says mirror of nowhere, leg 4") != std::string::npos);
  CHECK(runs == 0);
}

TEST_CASE("a home that is gone leads to a newer topology") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  fleet.place(shard, "b");
  fleet.end_move(shard, "b", "a");
  add_item(cluster, customer, 2);
  CHECK(fleet.integer("b", shard, count_items) == 2);
  CHECK(cluster.topology()->version() == fleet.catalog().version("shop"));
}

TEST_CASE("a pooled connection to a home that was dropped and made again does not serve") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);  // leaves a connection to a's home in the pool
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  fleet.end_move(shard, "b", "a");
  {
    Cluster other = Cluster::open(fleet.config);
    fleet.place(shard, "b");
    other.refresh();
    add_item(other, customer, 2);
  }
  fleet.begin_move(shard, "b", "a");  // a new file of the old name
  CHECK(cluster.query_value<std::int64_t>(customer, count_items) == 2);
  add_item(cluster, customer, 3);
  CHECK(fleet.integer("b", shard, count_items) == 3);
  CHECK(fleet.integer("a", shard, count_items) == 3);
}

TEST_CASE(
    "an unchecked query may be answered by the old owner, but never by a copy in the making") {
  RouterFleet fleet({.router = "poll_interval: 1h"});
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fleet.begin_move(shard, "a", "b");
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  const auto count = [&](bool check) {
    return cluster.query({.check_owner = check}, customer, count_items).at<std::int64_t>(0, 0);
  };
  fleet.in_home("b", shard, TxMode::write, [](HomeStore& store, HomeRecord&) {
    store.session().execute("INSERT INTO item VALUES (2, 2, 'not mirrored yet')");
  });
  CHECK(count(false) == 1);
  CHECK(count(true) == 2);

  fleet.end_move(shard, "b", "a");
  fleet.begin_move(shard, "b", "a");
  fleet.in_home("a", shard, TxMode::write,
                [](HomeStore& store, HomeRecord&) { store.session().execute("DELETE FROM item"); });
  Cluster stale = Cluster::open(fleet.config);  // the catalog still says a
  CHECK(stale.query({.check_owner = false}, customer, count_items).at<std::int64_t>(0, 0) == 2);
}
