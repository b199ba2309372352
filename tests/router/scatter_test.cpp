#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

#include "router/hooked_backend.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

TEST_CASE("a count over all shards is the sum of the shards' counts") {
  RouterFleet fleet({.nodes = 3, .shards = 12});
  Cluster cluster = Cluster::open(fleet.config);
  for (int i = 1; i <= 100; ++i) add_item(cluster, i, i);
  CHECK(cluster.scatter_sum(count_items) == 100);
  CHECK(cluster.scatter_sum("SELECT sum(id) FROM item WHERE id <= $1", 10) == 55);
  CHECK(cluster.scatter_sum<double>("SELECT sum(id * 0.5) FROM item") == 2525.0);

  std::atomic<int> right{0};
  const auto replies = cluster.scatter([&right](ShardId shard, ReadTransaction& tx) {
    right += tx.shard() == shard ? 1 : 0;
    return tx.query_value<std::int64_t>(count_items);
  });
  REQUIRE(replies.size() == 12);
  CHECK(right == 12);
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < 12; ++i) {
    CHECK(replies[i].shard == ShardId{i});
    sum += replies[i].value();
  }
  CHECK(sum == 100);
}

TEST_CASE("a broken shard is one value among the replies, and no sum is made without it") {
  RouterFleet fleet({.nodes = 3, .shards = 12, .router = "deadline: 2s"});
  Cluster cluster = Cluster::open(fleet.config);
  std::filesystem::remove(fleet.home_file("b", ShardId{4}));
  const auto replies = cluster.scatter(
      [](ShardId, ReadTransaction& tx) { return tx.query_value<std::int64_t>("SELECT 1"); });
  REQUIRE(replies.size() == 12);
  for (const auto& reply : replies) CHECK(reply.ok() == (reply.shard != ShardId{4}));
  REQUIRE(replies[4].error() != nullptr);
  CHECK(replies[4].error()->code() == ErrorCode::not_owner);
  CHECK(replies[4].error()->shard() == ShardId{4});
  CHECK(code_of([&] { replies[4].value(); }) == ErrorCode::not_owner);
  CHECK(code_of([&] { cluster.scatter_sum(count_items); }) == ErrorCode::not_owner);
}

TEST_CASE("an SQL error in a scatter is the reply of its shard") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const auto replies = cluster.scatter([](ShardId shard, ReadTransaction& tx) {
    return tx.query(shard == ShardId{2} ? "SELECT nothing" : "SELECT 1").size();
  });
  CHECK(replies[2].error()->code() == ErrorCode::sql);
  CHECK(std::count_if(replies.begin(), replies.end(), [](const auto& r) { return r.ok(); }) == 3);
}

TEST_CASE("an exception that is no Error ends a scatter after all its threads have ended") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const auto throwing = [&] {
    cluster.scatter([](ShardId shard, ReadTransaction&) -> int {
      if (shard == ShardId{1}) throw std::runtime_error("mine");
      return 0;
    });
  };
  CHECK_THROWS_AS(throwing(), std::runtime_error);
}

TEST_CASE("a slow node takes no more than its part of a scatter, and the others go on") {
  RouterFleet fleet({.nodes = 3, .shards = 24});
  Gate release;
  std::atomic<int> at_slow{0};
  std::atomic<int> at_slow_max{0};
  std::atomic<int> others{0};
  Hooks hooks;
  hooks.begin = [&](const HomeName&, TxMode, SessionUse) {
    const int now = ++at_slow;
    at_slow_max = std::max(at_slow_max.load(), now);
    release.wait();
    --at_slow;
  };
  Cluster cluster = Cluster::open(fleet.config, hooked(hooks, "/b"));
  const auto replies = cluster.scatter(
      [&](ShardId shard, ReadTransaction& tx) {
        // The slow node is let go only once all shards of the others have answered.
        if (shard.value % 3 != 1 && ++others == 16) release.open();
        return tx.query("SELECT 1").size();
      },
      {.parallelism = 4, .per_node_max = 2});
  CHECK(others == 16);
  CHECK(at_slow_max <= 2);
  for (const auto& reply : replies) CHECK(reply.ok());
}

TEST_CASE("a shard that was not begun before the deadline is answered with a timeout") {
  RouterFleet fleet;
  Cluster cluster = Cluster::open(fleet.config);
  const auto replies = cluster.scatter([](ShardId, ReadTransaction&) { return 1; },
                                       {.deadline = std::chrono::milliseconds(0)});
  for (const auto& reply : replies) CHECK(reply.error()->code() == ErrorCode::timeout);
}
