// How long the way from a key to a node takes, and how long a plan. Peers in the same run: the hash
// alone, and a consistent-hash ring in a std::map with 160 points for each node.

#define XXH_INLINE_ALL
#include <benchmark/benchmark.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <ringshard/hash.hpp>
#include <ringshard/ring.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/planner.hpp"

namespace {

using ringshard::HashRing;
using ringshard::HashStrategy;
using ringshard::Key;
using ringshard::NodeInfo;

// Keys stay in the cache, so that routing is measured; they are too many for a processor to
// remember which way each of them went through a tree the last time.
constexpr std::size_t key_count = 1U << 15U;

std::vector<NodeInfo> nodes_of(std::int64_t count) {
  std::vector<NodeInfo> nodes;
  for (std::int64_t i = 0; i < count; ++i) nodes.push_back({.name = "node-" + std::to_string(i)});
  return nodes;
}

ringshard::Topology topology_of(std::int64_t nodes, ringshard::KeyType type) {
  return ringshard::Topology({.catalog_id = "bench",
                              .keyspace = "bench",
                              .key = type,
                              .nodes = nodes_of(nodes),
                              .placement = ringshard::initial_placement(nodes_of(nodes), 16'384)});
}

std::vector<std::int64_t> integers() {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> keys(key_count);
  for (auto& key : keys) key = static_cast<std::int64_t>(random() >> 1U);
  return keys;
}

// 36 characters, as a UUID that is kept as text.
std::vector<std::string> texts() {
  std::mt19937_64 random(2);
  std::vector<std::string> keys(key_count);
  for (auto& key : keys) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(random()), static_cast<unsigned>(random() & 0xffffU),
                  static_cast<unsigned>(random() & 0xffffU),
                  static_cast<unsigned>(random() & 0xffffU),
                  static_cast<unsigned long long>(random() & 0xffffffffffffULL));
    key = buffer;
  }
  return keys;
}

template <class Keys, class Work>
void for_each_key(benchmark::State& state, const Keys& keys, Work work) {
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(work(keys[i]));
    i = (i + 1) % key_count;
  }
}

void hash_int64(benchmark::State& state) {
  for_each_key(state, integers(), [](std::int64_t key) { return XXH3_64bits(&key, sizeof key); });
}
BENCHMARK(hash_int64);

void hash_text36(benchmark::State& state) {
  for_each_key(state, texts(),
               [](const std::string& key) { return XXH3_64bits(key.data(), key.size()); });
}
BENCHMARK(hash_text36);

void route_int64(benchmark::State& state) {
  const auto topology = topology_of(state.range(0), ringshard::KeyType::int64);
  for_each_key(state, integers(), [&](std::int64_t key) { return topology.route(key).node.value; });
}
BENCHMARK(route_int64)->Arg(10)->Arg(100)->Arg(1000);

void route_text36(benchmark::State& state) {
  const auto topology = topology_of(state.range(0), ringshard::KeyType::text);
  for_each_key(state, texts(),
               [&](const std::string& key) { return topology.route(key).node.value; });
}
BENCHMARK(route_text36)->Arg(10)->Arg(100)->Arg(1000);

void hash_ring_int64(benchmark::State& state) {
  HashRing<std::string> ring;
  for (const NodeInfo& node : nodes_of(state.range(0))) ring.add(node.name);
  for_each_key(state, integers(), [&](std::int64_t key) { return &ring.owner(key); });
}
BENCHMARK(hash_ring_int64)->Arg(10)->Arg(100)->Arg(1000);

class MapRing {
 public:
  explicit MapRing(std::int64_t nodes) {
    std::uint32_t number = 0;
    for (const NodeInfo& node : nodes_of(nodes)) {
      for (std::int64_t i = 0; i < 160; ++i) {
        points_.emplace(ringshard::hash_key(HashStrategy::xxh3, {node.name, i}), number);
      }
      ++number;
    }
  }
  std::uint32_t owner(std::uint64_t hash) const {
    const auto found = points_.lower_bound(hash);
    return found == points_.end() ? points_.begin()->second : found->second;
  }

 private:
  std::map<std::uint64_t, std::uint32_t> points_;
};

void map_ring_int64(benchmark::State& state) {
  const MapRing ring(state.range(0));
  for_each_key(state, integers(),
               [&](std::int64_t key) { return ring.owner(XXH3_64bits(&key, sizeof key)); });
}
BENCHMARK(map_ring_int64)->Arg(10)->Arg(100)->Arg(1000);

void map_ring_text36(benchmark::State& state) {
  const MapRing ring(state.range(0));
  for_each_key(state, texts(), [&](const std::string& key) {
    return ring.owner(XXH3_64bits(key.data(), key.size()));
  });
}
BENCHMARK(map_ring_text36)->Arg(10)->Arg(100)->Arg(1000);

// 16,384 shards on `nodes` nodes, to which a tenth more are added.
ringshard::PlanRequest growth(std::int64_t nodes) {
  ringshard::PlanRequest request;
  request.placement = ringshard::initial_placement(nodes_of(nodes - nodes / 10), 16'384);
  request.nodes = nodes_of(nodes);
  return request;
}

void plan_growth(benchmark::State& state) {
  const auto request = growth(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ringshard::plan_moves(request));
}
BENCHMARK(plan_growth)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

void plan_growth_with_forbidden(benchmark::State& state) {
  auto request = growth(state.range(0));
  for (std::uint32_t i = 0; i < 200; ++i) {
    request.forbidden.push_back(
        {ringshard::ShardId{i * 80}, ringshard::NodeIndex{request.placement[i * 80]}});
  }
  for (auto _ : state) benchmark::DoNotOptimize(ringshard::plan_moves(request));
}
BENCHMARK(plan_growth_with_forbidden)->Arg(1000)->Unit(benchmark::kMillisecond);

void plan_growth_by_cost(benchmark::State& state) {
  auto request = growth(state.range(0));
  std::mt19937_64 random(3);
  for (std::size_t i = 0; i < request.placement.size(); ++i) {
    request.by.push_back(static_cast<double>(random() % 1000));
  }
  for (auto _ : state) benchmark::DoNotOptimize(ringshard::plan_moves(request));
}
BENCHMARK(plan_growth_by_cost)->Arg(1000)->Unit(benchmark::kMillisecond);

void first_placement(benchmark::State& state) {
  const auto nodes = nodes_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ringshard::initial_placement(nodes, 16'384));
}
BENCHMARK(first_placement)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
