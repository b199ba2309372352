#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "router/hooked_backend.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

constexpr ShardId shard{0};  // placed on node a

}  // namespace

TEST_CASE("a write to a home that is being moved arrives at its mirror before it is acknowledged") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  add_item(cluster, customer, 1);
  fleet.begin_move(shard, "a", "b");
  add_item(cluster, customer, 2);
  CHECK(fleet.integer("b", shard, count_items) == 2);
  cluster.execute(customer, "UPDATE item SET text = 'changed' WHERE id = 1");
  CHECK(fleet.integer("b", shard, "SELECT count(*) FROM item WHERE text = 'changed'") == 1);
  cluster.transact(customer, [&](Transaction& tx) {
    tx.execute("DELETE FROM item WHERE id = 1");
    tx.execute("UPDATE item SET id = 5 WHERE id = 2");
  });
  CHECK(fleet.integer("b", shard, "SELECT sum(id) FROM item") == 5);
  CHECK(cluster.statistics().mirror_writes == 3);
  CHECK(cluster.statistics().mirror_failures == 0);
  // In the first leg the change log is the migrator's: it has to apply the entries again.
  CHECK(fleet.log_rows("a", shard) >= 4);
}

TEST_CASE("a mirror that is down never fails a write, and the change log keeps the entry") {
  RouterFleet fleet({.router = "mirror_timeout: 50ms"});
  std::atomic<int> tried{0};
  Hooks hooks;
  hooks.begin = [&](const HomeName&, TxMode, SessionUse) {
    ++tried;
    throw Error(ErrorCode::unavailable, "no route to host");
  };
  fleet.begin_move(shard, "a", "b");
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks, "/b"));
  const std::int64_t customer = fleet.key_of(shard);
  for (int i = 1; i <= 20; ++i) CHECK(add_item(cluster, customer, i) == 1);
  CHECK(fleet.integer("a", shard, count_items) == 20);
  CHECK(fleet.log_rows("a", shard) == 20);
  const RouterStatistics statistics = cluster.statistics();
  CHECK(statistics.writes == 20);
  CHECK(statistics.mirror_failures + statistics.mirror_skips == 20);
  // After some failures the peer is left alone.
  CHECK(statistics.mirror_skips > 0);
  CHECK(tried == static_cast<int>(statistics.mirror_failures));
}

TEST_CASE("a mirror whose home is missing or refuses the row does not fail a write") {
  RouterFleet fleet({.statements = {"CREATE TABLE item (id INTEGER PRIMARY KEY, customer INTEGER, "
                                    "text TEXT UNIQUE)"}});
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  fleet.begin_move(shard, "a", "b");
  SECTION("refuses") {
    fleet.in_home("b", shard, TxMode::write, [](HomeStore& store, HomeRecord&) {
      store.session().execute("INSERT INTO item VALUES (77, 1, 'taken')");
    });
    add_item(cluster, customer, 1, "taken");
    CHECK(fleet.integer("b", shard, "SELECT id FROM item") == 77);
  }
  SECTION("is missing") {
    fleet.backend("b").drop_home(fleet.home(shard));
    add_item(cluster, customer, 1);
  }
  CHECK(fleet.integer("a", shard, count_items) == 1);
  CHECK(cluster.statistics().mirror_failures == 1);
  CHECK(fleet.log_rows("a", shard) == 1);
}

TEST_CASE("a late mirror write of an earlier leg is dropped") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  fleet.begin_move(shard, "a", "b");
  std::function<void()> meanwhile;
  FaultScope faults([&](FaultPoint point) {
    if (point == FaultPoint::write_committed && meanwhile) std::exchange(meanwhile, nullptr)();
  });

  SECTION("after the cutover: the mirror has become the owner and has newer rows") {
    meanwhile = [&] {
      fleet.decide(shard, "a", "b");
      fleet.promote(shard, "a", "b");
      fleet.in_home("b", shard, TxMode::write, [](HomeStore& store, HomeRecord&) {
        store.session().execute("UPDATE item SET text = 'newer'");
      });
    };
    add_item(cluster, customer, 1, "old");
    CHECK(fleet.integer("b", shard, "SELECT count(*) FROM item WHERE text = 'newer'") == 1);
  }
  SECTION("after cutover and rollback: the same node is the mirror again, of a later leg") {
    meanwhile = [&] {
      fleet.decide(shard, "a", "b");
      fleet.promote(shard, "a", "b");
      fleet.decide(shard, "b", "a");
      fleet.promote(shard, "b", "a");
      fleet.in_home("a", shard, TxMode::write, [](HomeStore& store, HomeRecord&) {
        store.session().execute("UPDATE item SET text = 'newest'");
      });
    };
    add_item(cluster, customer, 1, "old");
    CHECK(fleet.record("b", shard).leg == 3);
  }
  SECTION("after another move has made the mirror anew") {
    meanwhile = [&] {
      fleet.end_move(shard, "a", "b");
      fleet.begin_move(shard, "a", "b");
      fleet.in_home("b", shard, TxMode::write, [](HomeStore& store, HomeRecord&) {
        store.session().execute("DELETE FROM item");
      });
    };
    add_item(cluster, customer, 1, "old");
    CHECK(fleet.integer("b", shard, count_items) == 0);
  }
  CHECK(cluster.statistics().mirror_drops == 1);
  CHECK(cluster.statistics().mirror_writes == 0);
  CHECK(cluster.statistics().writes == 1);
}

TEST_CASE("a router trims the change log in a later leg than the first, by its next write") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  fleet.begin_move(shard, "a", "b");
  for (int i = 0; i < 5; ++i) add_item(cluster, customer, i);
  CHECK(fleet.log_rows("a", shard) == 5);
  fleet.decide(shard, "a", "b");
  fleet.promote(shard, "a", "b");
  for (int i = 5; i < 10; ++i) add_item(cluster, customer, i);
  CHECK(fleet.log_rows("b", shard) == 1);
  CHECK(fleet.integer("a", shard, count_items) == 10);

  SECTION("entries that were not mirrored stay") {
    fleet.backend("a").drop_home(fleet.home(shard));
    add_item(cluster, customer, 10);
    add_item(cluster, customer, 11);
    CHECK(fleet.log_rows("b", shard) == 2);
  }
  SECTION("a write that is rolled back deletes nothing, and the next one does") {
    const auto fails = [&] {
      cluster.transact(customer, [](Transaction& tx) {
        tx.execute("DELETE FROM item");
        throw Error(ErrorCode::cancelled, "no");
      });
    };
    CHECK(code_of(fails) == ErrorCode::cancelled);
    CHECK(fleet.log_rows("b", shard) == 1);
    add_item(cluster, customer, 10);
    CHECK(fleet.log_rows("b", shard) == 1);
  }
  SECTION("a leg later nothing of the old leg is deleted") {
    fleet.decide(shard, "b", "a");
    fleet.promote(shard, "b", "a");
    add_item(cluster, customer, 10);
    CHECK(fleet.log_rows("a", shard) == 1);
    add_item(cluster, customer, 11);
    CHECK(fleet.log_rows("a", shard) == 1);
    CHECK(fleet.integer("b", shard, count_items) == 12);
  }
}

TEST_CASE("a change log that grows past its bound is given up, and writes go on") {
  RouterFleet fleet({.move = "change_log_rows_max: 8"});
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  fleet.begin_move(shard, "a", "b");
  for (int i = 0; i < 30; ++i) CHECK(add_item(cluster, customer, i) == 1);
  const HomeRecord owner = fleet.record("a", shard);
  CHECK(owner.role == Role::owner);
  CHECK(owner.peer.empty());
  CHECK_FALSE(owner.move_id.empty());
  // What was noted waits for the migrator, and grows no more.
  const auto noted = [&fleet] {
    return fleet.integer("a", shard, "SELECT count(*) FROM ringshard_change_log");
  };
  const std::int64_t before = noted();
  CHECK(add_item(cluster, customer, 30) == 1);
  CHECK(noted() == before);
  CHECK(cluster.statistics().captures_given_up == 1);
  CHECK(fleet.integer("a", shard, count_items) == 31);
}

TEST_CASE("whatever fails behind the commit, the write is acknowledged once") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  const bool moved = GENERATE(false, true);
  if (moved) fleet.begin_move(shard, "a", "b");
  FaultScope faults([](FaultPoint point) {
    if (point == FaultPoint::write_committed || point == FaultPoint::write_mirrored) {
      throw Error(ErrorCode::unavailable, "asked for");
    }
  });
  CHECK(add_item(cluster, customer, 1) == 1);
  CHECK(fleet.integer("a", shard, count_items) == 1);
  CHECK(cluster.statistics().retries == 0);
}
