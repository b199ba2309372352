#include <algorithm>
#include <ringshard/error.hpp>
#include <ringshard/id_generator.hpp>
#include <set>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace ringshard::testing {
namespace {

constexpr std::int64_t new_year_2024 = 1'704'067'200'000;

}  // namespace

TEST_CASE("an id tells when, by whom and for which shard it was made") {
  IdGenerator ids({.worker = 3, .unix_ms = [] { return new_year_2024; }});
  const std::int64_t id = ids.next(ShardId{1023});
  // The layout is stored in users' tables: this number never changes.
  CHECK(id == 529'448'671'641'604'095);
  CHECK(ids.parts(id) == IdParts{new_year_2024, 0, 3, ShardId{1023}});
  CHECK(ids.parts(ids.next(ShardId{0})) == IdParts{new_year_2024, 1, 3, ShardId{0}});
}

TEST_CASE("ids grow although the clock steps back, and nothing waits for it") {
  std::int64_t now = new_year_2024;
  IdGenerator ids({.unix_ms = [&now] { return now; }});
  std::int64_t last = 0;
  const auto next = [&] {
    const std::int64_t id = ids.next(ShardId{7});
    CHECK(id > last);
    last = id;
  };
  for (int i = 0; i < 300; ++i) next();  // more than a millisecond has room for
  CHECK(ids.parts(last).unix_ms == new_year_2024 + 2);
  now -= 3'600'000;
  for (int i = 0; i < 300; ++i) next();
  now += 3'600'000 + 1'000;
  next();
  CHECK(ids.parts(last).unix_ms == now);

  // A process that starts again on the old clock goes on behind what it made.
  now -= 5'000;
  IdGenerator again({.after = last, .unix_ms = [&now] { return now; }});
  CHECK(again.next(ShardId{7}) > last);
}

TEST_CASE("ids of many threads and workers are all different") {
  std::vector<std::vector<std::int64_t>> made(8);
  IdGenerator one({.shard_count = 16, .worker = 0});
  IdGenerator two({.shard_count = 16, .worker = 1});
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < made.size(); ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 5'000; ++n)
        made[i].push_back(
            (i % 2 == 0 ? one : two).next(ShardId{static_cast<std::uint32_t>(n % 16)}));
    });
  for (std::thread& thread : threads) thread.join();
  std::set<std::int64_t> all;
  for (const auto& ids : made) {
    CHECK(std::is_sorted(ids.begin(), ids.end()));
    all.insert(ids.begin(), ids.end());
  }
  CHECK(all.size() == 40'000);
}

TEST_CASE("what has no room in an id is refused") {
  CHECK_THROWS_AS(IdGenerator({.worker = 32}), Error);
  CHECK_THROWS_AS(IdGenerator({.shard_count = 0}), Error);
  CHECK_THROWS_AS(IdGenerator({.shard_count = 65'537}), Error);
  IdGenerator ids({.shard_count = 1000});
  CHECK_THROWS_AS(ids.next(ShardId{1000}), Error);
  CHECK_THROWS_AS(ids.parts(-1), Error);
  CHECK_THROWS_AS(ids.parts(1023), Error);
  CHECK(IdGenerator({.shard_count = 1}).next(ShardId{0}) > 0);
}

}  // namespace ringshard::testing
