#include "core/planner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <ringshard/error.hpp>
#include <ringshard/ring.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace ringshard {
namespace {

using Counts = std::vector<std::uint32_t>;

template <class Work>
std::optional<ErrorCode> code_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::vector<NodeInfo> nodes_of(const std::vector<double>& weights) {
  std::vector<NodeInfo> nodes;
  for (const double weight : weights) {
    nodes.push_back({.name = "node-" + std::to_string(nodes.size()), .weight = weight});
  }
  return nodes;
}

NodeIndex node(std::size_t index) { return NodeIndex{static_cast<std::uint16_t>(index)}; }
ShardId shard(std::size_t index) { return ShardId{static_cast<std::uint32_t>(index)}; }

Counts counts_of(const std::vector<std::uint16_t>& placement, std::size_t nodes) {
  Counts counts(nodes, 0);
  for (const std::uint16_t at : placement) ++counts[at];
  return counts;
}

std::size_t moves_between(const std::vector<std::uint16_t>& from,
                          const std::vector<std::uint16_t>& to) {
  std::size_t moves = 0;
  for (std::size_t i = 0; i < from.size(); ++i) moves += from[i] != to[i] ? 1 : 0;
  return moves;
}

// The moves are what the resulting placement says, each shard once.
void check_consistent(const PlanRequest& request, const PlacementPlan& plan) {
  auto placement = request.placement;
  std::set<std::uint32_t> moved;
  for (const ShardMove& move : plan.moves) {
    CHECK(moved.insert(move.shard.value).second);
    CHECK(move.from != move.to);
    CHECK(move.from.value == request.placement[move.shard.value]);
    placement[move.shard.value] = move.to.value;
  }
  CHECK(placement == plan.placement);
}

TEST_CASE("quotas add up, follow the weights and give nothing for no weight") {
  CHECK(quotas({1, 1, 1}, 6) == Counts{2, 2, 2});
  CHECK(quotas({1, 1, 1}, 7) == Counts{3, 2, 2});
  CHECK(quotas({2, 1, 1}, 8) == Counts{4, 2, 2});
  CHECK(quotas({0, 1}, 5) == Counts{0, 5});
  CHECK(quotas({1, 1, 1}, 1) == Counts{1, 0, 0});
  // The textbook example of D'Hondt's method.
  CHECK(quotas({100'000, 80'000, 30'000, 20'000}, 8) == Counts{4, 3, 1, 0});
}

TEST_CASE("quotas by the whole parts first are the same as one by one") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0.1, 10);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> weights(1 + random() % 12);
    for (double& each : weights) each = weight(random);
    const auto shards = static_cast<std::uint32_t>(1 + random() % 300);
    Counts plain(weights.size(), 0);
    for (std::uint32_t i = 0; i < shards; ++i) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < weights.size(); ++k) {
        if (weights[k] / (plain[k] + 1) > weights[best] / (plain[best] + 1)) best = k;
      }
      ++plain[best];
    }
    CHECK(quotas(weights, shards) == plain);
  }
}

TEST_CASE("weights that make no sense are refused") {
  CHECK(code_of([] { quotas({1, -1}, 4); }) == ErrorCode::invalid_argument);
  CHECK(code_of([] { quotas({1, std::nan("")}, 4); }) == ErrorCode::invalid_argument);
  CHECK(code_of([] { quotas({0, 0}, 4); }) == ErrorCode::refused);
  CHECK(code_of([] { quotas({}, 4); }) == ErrorCode::refused);
}

TEST_CASE("the first placement meets the quotas exactly and follows the ring") {
  const std::vector<double> weights = {1, 2, 0.5, 4};
  auto nodes = nodes_of(weights);
  nodes[2].state = NodeState::draining;
  const auto placement = initial_placement(nodes, 1024);
  CHECK(counts_of(placement, 4) == quotas({1, 2, 0, 4}, 1024));

  HashRing<std::string> ring;
  const double mean = 7.0 / 3;
  for (const std::size_t i : {0, 1, 3}) ring.add(nodes[i].name, weights[i] / mean);
  int as_the_ring = 0;
  for (std::int64_t i = 0; i < 1024; ++i) {
    as_the_ring += ring.owner(i) == nodes[placement[static_cast<std::size_t>(i)]].name ? 1 : 0;
  }
  CHECK(as_the_ring > 800);
}

TEST_CASE("the order of the node list makes no difference to the first placement") {
  auto nodes = nodes_of({1, 1, 2});
  const auto placement = initial_placement(nodes, 512);
  std::swap(nodes[0], nodes[2]);
  const auto swapped = initial_placement(nodes, 512);
  for (std::size_t i = 0; i < 512; ++i) CHECK(swapped[i] == 2 - placement[i]);
}

TEST_CASE("a first placement without an active node or without shards is refused") {
  auto nodes = nodes_of({1});
  CHECK(code_of([&] { initial_placement(nodes, 0); }) == ErrorCode::invalid_argument);
  nodes[0].state = NodeState::draining;
  CHECK(code_of([&] { initial_placement(nodes, 4); }) == ErrorCode::refused);
  CHECK(code_of([&] { initial_placement({}, 4); }) == ErrorCode::refused);
}

TEST_CASE("a node that joins gets its due with the fewest moves, from everyone, by the ring") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1})};
  request.placement = initial_placement(request.nodes, 256);
  request.nodes = nodes_of({1, 1, 1, 1});
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.moves.size() == 64);
  CHECK(plan.share_moved == 0.25);
  CHECK(plan.least_share == 0.25);
  CHECK(plan.balance_before == 86 / 64.0);
  CHECK(plan.balance_after == 1.0);
  CHECK(counts_of(plan.placement, 4) == Counts{64, 64, 64, 64});

  HashRing<std::string> ring;
  for (const NodeInfo& each : request.nodes) ring.add(each.name);
  int by_the_ring = 0;
  for (const ShardMove& move : plan.moves) {
    CHECK(move.to == node(3));
    by_the_ring += ring.owner(std::int64_t{move.shard.value}) == "node-3" ? 1 : 0;
  }
  CHECK(by_the_ring > 40);
}

TEST_CASE("nothing moves where the quotas are met, and the odd shard stays where it is") {
  for (const auto& placement : std::vector<std::vector<std::uint16_t>>{
           {0, 0, 1, 1, 2, 2}, {0, 1, 1, 1, 2, 2, 0}, {0, 1, 2, 2}, {2}}) {
    PlanRequest request{.nodes = nodes_of({1, 1, 1}), .placement = placement};
    CHECK(plan_moves(request).moves.empty());
  }
}

TEST_CASE("a draining node is emptied and all others share what it had") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1, 1})};
  request.placement = initial_placement(request.nodes, 256);
  request.nodes[1].state = NodeState::draining;
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.moves.size() == 64);
  for (const ShardMove& move : plan.moves) CHECK(move.from == node(1));
  const Counts counts = counts_of(plan.placement, 4);
  CHECK(counts[1] == 0);
  CHECK(*std::ranges::max_element(counts) == 86);
}

TEST_CASE("a pinned shard goes to its node or stays there, and the balance is kept") {
  PlanRequest request{.nodes = nodes_of({1, 1}), .placement = {0, 0, 0, 0, 0, 0, 1, 1}};
  request.pins = {
      {shard(0), node(0)}, {shard(1), node(0)}, {shard(2), node(0)}, {shard(6), node(0)}};
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  for (const ShardNode& pin : request.pins)
    CHECK(plan.placement[pin.shard.value] == pin.node.value);
  CHECK(counts_of(plan.placement, 2) == Counts{4, 4});
  CHECK(plan.moves.size() == 4);
  CHECK(plan.moves.front().shard == shard(6));
}

TEST_CASE("more pins than a node's due raise what it gets") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1}), .placement = {0, 0, 1, 1, 2, 2}};
  for (std::size_t i = 0; i < 4; ++i) request.pins.push_back({shard(i), node(0)});
  const PlacementPlan plan = plan_moves(request);
  CHECK(counts_of(plan.placement, 3) == Counts{4, 1, 1});
  CHECK(plan.moves.size() == 3);
}

TEST_CASE("a forbidden place is left and never entered") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1}), .placement = {0, 0, 0, 1, 1, 1, 2, 2, 2}};
  request.forbidden = {{shard(0), node(0)}, {shard(0), node(1)}, {shard(6), node(2)}};
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.placement[0] == 2);
  CHECK(plan.placement[6] != 2);
  CHECK(counts_of(plan.placement, 3) == Counts{3, 3, 3});
  CHECK(plan.moves.size() == 2);
}

TEST_CASE("a forbidden node is given nothing and may lose some") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1, 1})};
  for (int i = 0; i < 12; ++i) request.placement.push_back(i < 8 ? 0 : 1);
  request.forbidden_nodes = {node(0), node(1)};
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(counts_of(plan.placement, 4) == Counts{3, 3, 3, 3});
  for (const ShardMove& move : plan.moves) CHECK(move.to.value >= 2);
}

TEST_CASE("what can not be is refused and named") {
  const PlanRequest good{.nodes = nodes_of({1, 1, 1}), .placement = {0, 1, 2}};
  const auto refusal = [&](const std::function<void(PlanRequest&)>& change) {
    PlanRequest request = good;
    change(request);
    CHECK(code_of([&] { plan_moves(request); }) == ErrorCode::refused);
    return message_of([&] { plan_moves(request); });
  };
  const auto names = [](const std::string& message, const std::string& name) {
    return message.find(name) != std::string::npos;
  };
  CHECK(names(refusal([](PlanRequest& request) {
                request.pins = {{shard(1), node(0)}, {shard(1), node(2)}};
              }),
              "shard 1"));
  CHECK(names(refusal([](PlanRequest& request) {
                request.pins = {{shard(2), node(0)}};
                request.forbidden = {{shard(2), node(0)}};
              }),
              "shard 2"));
  CHECK(names(refusal([](PlanRequest& request) {
                request.pins = {{shard(2), node(1)}};
                request.nodes[1].state = NodeState::draining;
              }),
              "'node-1'"));
  CHECK(names(refusal([](PlanRequest& request) {
                request.pins = {{shard(2), node(1)}};
                request.forbidden_nodes = {node(1)};
              }),
              "'node-1'"));
  CHECK(names(refusal([](PlanRequest& request) { request.nodes[0].state = NodeState::removed; }),
              "'node-0'"));
  CHECK(names(refusal([](PlanRequest& request) {
                request.forbidden = {{shard(1), node(0)}, {shard(1), node(1)}, {shard(1), node(2)}};
              }),
              "shard 1"));
  refusal([](PlanRequest& request) {
    for (NodeInfo& each : request.nodes) each.state = NodeState::draining;
  });
  refusal([](PlanRequest& request) {
    request.nodes[0].state = NodeState::draining;
    request.forbidden_nodes = {node(1), node(2)};
  });
}

TEST_CASE("numbers out of range are refused") {
  const PlanRequest good{.nodes = nodes_of({1, 1}), .placement = {0, 1}};
  const std::vector<std::function<void(PlanRequest&)>> mistakes = {
      [](PlanRequest& request) { request.placement.clear(); },
      [](PlanRequest& request) { request.placement[0] = 2; },
      [](PlanRequest& request) { request.nodes[0].weight = 0; },
      [](PlanRequest& request) { request.tolerance = -0.1; },
      [](PlanRequest& request) { request.tolerance = std::nan(""); },
      [](PlanRequest& request) { request.by = {1}; },
      [](PlanRequest& request) {
        request.by = {1, -1};
      },
      [](PlanRequest& request) {
        request.pins = {{shard(2), node(0)}};
      },
      [](PlanRequest& request) {
        request.forbidden = {{shard(0), node(2)}};
      },
      [](PlanRequest& request) { request.forbidden_nodes = {node(2)}; }};
  for (const auto& mistake : mistakes) {
    PlanRequest request = good;
    mistake(request);
    CHECK(code_of([&] { plan_moves(request); }) == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a tolerance buys fewer moves and is kept") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1, 1})};
  for (const auto& [at, count] : {std::pair{0, 110}, {1, 104}, {2, 96}, {3, 90}}) {
    request.placement.insert(request.placement.end(), static_cast<std::size_t>(count),
                             static_cast<std::uint16_t>(at));
  }
  CHECK(plan_moves(request).moves.size() == 14);
  request.tolerance = 0.05;
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.moves.size() == 5);
  CHECK(counts_of(plan.placement, 4) == Counts{105, 104, 96, 95});
  request.tolerance = 0.10;
  CHECK(plan_moves(request).moves.empty());
}

TEST_CASE("a plan that is cut short makes the forced moves first and the most useful ones next") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1, 1})};
  for (int i = 0; i < 40; ++i) {
    request.placement.push_back(static_cast<std::uint16_t>(i < 20 ? 0 : i < 35 ? 1 : 2));
  }
  request.nodes[2].state = NodeState::draining;
  request.moves_max = 9;
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  REQUIRE(plan.moves.size() == 9);
  CHECK(plan.moves_left_out > 0);
  for (std::size_t i = 0; i < 5; ++i) CHECK(plan.moves[i].from == node(2));
  for (std::size_t i = 5; i < 9; ++i) CHECK(plan.moves[i].from == node(0));
  request.moves_max = 0;
  CHECK(plan_moves(request).moves.empty());
}

TEST_CASE("the same request gives the same plan") {
  PlanRequest request{.nodes = nodes_of({1, 1, 3})};
  request.placement = initial_placement(request.nodes, 500);
  request.nodes = nodes_of({2, 1, 3, 1});
  request.forbidden = {{shard(7), node(3)}};
  CHECK(plan_moves(request).moves == plan_moves(request).moves);
}

// ---- against all placements that there are
// -------------------------------------------------------

struct SmallWorld {
  PlanRequest request;

  bool allows(const std::vector<std::uint16_t>& placement) const {
    for (std::size_t i = 0; i < placement.size(); ++i) {
      if (!allows(i, placement[i])) return false;
    }
    return true;
  }

  bool allows(std::size_t at, std::uint16_t to) const {
    if (request.nodes[to].state != NodeState::active) return false;
    const bool moved = request.placement[at] != to;
    for (const NodeIndex closed : request.forbidden_nodes) {
      if (moved && closed.value == to) return false;
    }
    for (const ShardNode& pin : request.pins) {
      if (pin.shard.value == at && pin.node.value != to) return false;
    }
    for (const ShardNode& pair : request.forbidden) {
      if (pair == ShardNode{shard(at), node(to)}) return false;
    }
    return true;
  }

  template <class Action>
  void for_each_placement(Action action) const {
    std::vector<std::uint16_t> placement(request.placement.size(), 0);
    while (true) {
      if (allows(placement)) action(placement);
      std::size_t i = 0;
      while (i < placement.size() && ++placement[i] == request.nodes.size()) placement[i++] = 0;
      if (i == placement.size()) return;
    }
  }
};

SmallWorld random_world(std::mt19937& random, bool with_forbidden) {
  SmallWorld world;
  const std::size_t nodes = 2 + random() % 3;
  const std::size_t shards = 1 + random() % 6;
  std::vector<double> weights(nodes);
  for (double& weight : weights) weight = static_cast<double>(1 + random() % 3);
  world.request.nodes = nodes_of(weights);
  for (NodeInfo& each : world.request.nodes) {
    if (random() % 4 == 0) each.state = NodeState::draining;
  }
  for (std::size_t i = 0; i < shards; ++i) {
    world.request.placement.push_back(static_cast<std::uint16_t>(random() % nodes));
    if (random() % 5 == 0) world.request.pins.push_back({shard(i), node(random() % nodes)});
    while (with_forbidden && random() % 2 == 0) {
      world.request.forbidden.push_back({shard(i), node(random() % nodes)});
    }
  }
  if (random() % 4 == 0) world.request.forbidden_nodes.push_back(node(random() % nodes));
  return world;
}

std::size_t fewest_moves_to(const SmallWorld& world,
                            const std::function<bool(const Counts&)>& accept) {
  std::size_t fewest = SIZE_MAX;
  world.for_each_placement([&](const std::vector<std::uint16_t>& placement) {
    if (!accept(counts_of(placement, world.request.nodes.size()))) return;
    fewest = std::min(fewest, moves_between(world.request.placement, placement));
  });
  return fewest;
}

// D'Hondt's condition: nobody's last shard is a weaker claim than somebody's next one, but for
// those that pins hold or that can take no more.
bool is_fair(const SmallWorld& world, const Counts& counts) {
  const auto& request = world.request;
  Counts floors(counts.size(), 0);
  Counts caps(counts.size(), 0);
  for (std::size_t i = 0; i < request.placement.size(); ++i) {
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const auto to = static_cast<std::uint16_t>(k);
      if (world.allows(i, to) || !request.forbidden.empty()) ++caps[k];
    }
    for (const ShardNode& pin : request.pins) {
      if (pin.shard.value == i) ++floors[pin.node.value];
    }
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    // Pins elsewhere do not bound a node that takes any shard.
    const bool closed =
        std::ranges::find(request.forbidden_nodes, node(k)) != request.forbidden_nodes.end();
    if (request.nodes[k].state == NodeState::active && !closed) {
      caps[k] = static_cast<std::uint32_t>(request.placement.size());
    }
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[i] <= floors[i] || counts[k] >= caps[k]) continue;
      if (request.nodes[i].weight / counts[i] < request.nodes[k].weight / (counts[k] + 1)) {
        return false;
      }
    }
  }
  return true;
}

TEST_CASE("no placement that is as fair needs fewer moves, in 1500 random small worlds") {
  std::mt19937 random(20240607);
  int planned = 0;
  for (int round = 0; round < 1500; ++round) {
    const SmallWorld world = random_world(random, false);
    INFO("round " << round);
    PlacementPlan plan;
    if (code_of([&] { plan = plan_moves(world.request); })) {
      CHECK(fewest_moves_to(world, [](const Counts&) { return true; }) == SIZE_MAX);
      continue;
    }
    ++planned;
    check_consistent(world.request, plan);
    CHECK(world.allows(plan.placement));
    const Counts counts = counts_of(plan.placement, world.request.nodes.size());
    CHECK(is_fair(world, counts));
    CHECK(plan.moves.size() ==
          fewest_moves_to(world, [&](const Counts& other) { return is_fair(world, other); }));
    const auto shards = static_cast<double>(world.request.placement.size());
    CHECK(std::abs(plan.least_share * shards - static_cast<double>(plan.moves.size())) < 1e-9);
  }
  CHECK(planned > 500);
}

TEST_CASE("with forbidden places the moves are still the fewest, in 3000 random small worlds") {
  std::mt19937 random(99);
  int planned = 0;
  for (int round = 0; round < 3000; ++round) {
    const SmallWorld world = random_world(random, true);
    INFO("round " << round);
    PlacementPlan plan;
    if (code_of([&] { plan = plan_moves(world.request); })) {
      CHECK(fewest_moves_to(world, [](const Counts&) { return true; }) == SIZE_MAX);
      continue;
    }
    ++planned;
    check_consistent(world.request, plan);
    CHECK(world.allows(plan.placement));
    const Counts counts = counts_of(plan.placement, world.request.nodes.size());
    CHECK(plan.moves.size() ==
          fewest_moves_to(world, [&](const Counts& other) { return other == counts; }));
  }
  CHECK(planned > 500);
}

TEST_CASE("large worlds meet their quotas with as many moves as the quotas ask for") {
  std::mt19937 random(5);
  for (int round = 0; round < 30; ++round) {
    const std::size_t nodes = 1 + random() % 60;
    std::vector<double> weights(nodes);
    for (double& weight : weights) weight = 0.25 * static_cast<double>(1 + random() % 16);
    PlanRequest request{.nodes = nodes_of(weights)};
    for (std::size_t i = 0; i < 2000; ++i) {
      request.placement.push_back(static_cast<std::uint16_t>(random() % nodes));
    }
    const PlacementPlan plan = plan_moves(request);
    check_consistent(request, plan);
    const Counts before = counts_of(request.placement, nodes);
    const Counts after = counts_of(plan.placement, nodes);
    CHECK(std::accumulate(after.begin(), after.end(), 0U) == 2000U);
    std::size_t surplus = 0;
    for (std::size_t i = 0; i < nodes; ++i)
      surplus += before[i] > after[i] ? before[i] - after[i] : 0;
    CHECK(plan.moves.size() == surplus);
    CHECK(plan.share_moved == plan.least_share);
    CHECK(plan.balance_after <= plan.balance_before);
  }
}

// ---- by measured cost
// ----------------------------------------------------------------------------

TEST_CASE("costs are balanced, not counts") {
  PlanRequest request{.nodes = nodes_of({1, 1}), .placement = {0, 0, 0, 0, 1, 1, 1, 1}};
  request.by = {10, 10, 10, 10, 1, 1, 1, 1};
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.balance_before == 40 / 22.0);
  CHECK(plan.balance_after == 1.0);
  CHECK(plan.share_moved == 22 / 44.0);
  CHECK_FALSE(plan.floor_shard);
}

TEST_CASE("random costs come close to even, and a budget is kept") {
  std::mt19937 random(3);
  PlanRequest request{.nodes = nodes_of({1, 1, 2, 1})};
  for (int i = 0; i < 512; ++i) {
    request.placement.push_back(static_cast<std::uint16_t>(i % 3));
    request.by.push_back(static_cast<double>(random() % 1000));
  }
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.balance_after < 1.02);
  CHECK(plan.share_moved >= plan.least_share);
  CHECK(plan.share_moved < plan.least_share * 1.15);
  request.moves_max = 20;
  const PlacementPlan small = plan_moves(request);
  CHECK(small.moves.size() == 20);
  CHECK(small.balance_after < small.balance_before);
  CHECK(small.balance_after > plan.balance_after);
  request.moves_max.reset();
  request.tolerance = 0.3;
  CHECK(plan_moves(request).moves.size() < plan.moves.size());
}

TEST_CASE("one shard that is more than an even load is named as the floor") {
  PlanRequest request{.nodes = nodes_of({1, 1, 1, 1}), .placement = {0, 0, 1, 2, 3, 0}};
  request.by = {100, 5, 5, 5, 5, 20};
  const PlacementPlan plan = plan_moves(request);
  check_consistent(request, plan);
  CHECK(plan.floor_shard == shard(0));
  CHECK(plan.balance_floor == 100 / 35.0);
  CHECK(plan.balance_after == plan.balance_floor);
}

TEST_CASE("by cost, pins, forbidden places and draining nodes are kept too") {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    SmallWorld world = random_world(random, true);
    for (std::size_t i = 0; i < world.request.placement.size(); ++i) {
      world.request.by.push_back(static_cast<double>(random() % 10));
    }
    PlacementPlan plan;
    if (code_of([&] { plan = plan_moves(world.request); })) {
      CHECK(fewest_moves_to(world, [](const Counts&) { return true; }) == SIZE_MAX);
      continue;
    }
    check_consistent(world.request, plan);
    CHECK(world.allows(plan.placement));
  }
}

TEST_CASE("shards without any cost stay where they are") {
  PlanRequest request{.nodes = nodes_of({1, 1}), .placement = {0, 0, 0, 1}, .by = {0, 0, 0, 0}};
  const PlacementPlan plan = plan_moves(request);
  CHECK(plan.moves.empty());
  CHECK(plan.balance_after == 1.0);
}

}  // namespace
}  // namespace ringshard
