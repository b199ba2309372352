#include "router/circuit.hpp"

#include "router/trim_memory.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::router;

TEST_CASE("a peer that fails several times in a row is left alone, then tried by one caller") {
  Circuit circuit;
  TimePoint now;
  for (std::uint32_t i = 0; i < Circuit::failures_max; ++i) {
    CHECK(circuit.allows(now));
    circuit.failed(now);
  }
  CHECK_FALSE(circuit.allows(now));
  now += Circuit::pause_min;
  CHECK(circuit.allows(now));
  CHECK_FALSE(circuit.allows(now));
  circuit.failed(now);
  CHECK_FALSE(circuit.allows(now + Circuit::pause_min));
  CHECK(circuit.allows(now + 2 * Circuit::pause_min));
  circuit.succeeded();
  CHECK(circuit.allows(now));
  for (int i = 0; i < 100; ++i) circuit.failed(now);
  CHECK(circuit.allows(now + Circuit::pause_max));
}

TEST_CASE("entries to be trimmed are forgotten when the move or its leg changes") {
  TrimMemory memory;
  HomeRecord owner;
  owner.shard = ShardId{3};
  owner.move_id = "m";
  owner.leg = 2;
  memory.add(owner, {1, 2, 3});
  CHECK(memory.take(owner).size() == 3);
  CHECK(memory.take(owner).empty());
  memory.add(owner, {4});
  owner.leg = 3;
  CHECK(memory.take(owner).empty());
  owner.leg = 2;
  CHECK(memory.take(owner).empty());
}

TEST_CASE("the entries to be trimmed are bounded") {
  TrimMemory memory;
  HomeRecord owner;
  owner.move_id = "m";
  owner.leg = 2;
  memory.add(owner, std::vector<std::int64_t>(2 * TrimMemory::entries_max, 1));
  std::size_t taken = 0;
  while (true) {
    const std::size_t now = memory.take(owner).size();
    CHECK(now <= TrimMemory::taken_max);
    if (now == 0) break;
    taken += now;
  }
  CHECK(taken == TrimMemory::entries_max);
}
