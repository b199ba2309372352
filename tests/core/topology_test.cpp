#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <ringshard/error.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace ringshard {
namespace {

template <class Work>
std::optional<ErrorCode> code_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

TopologyData sample() {
  TopologyData data{
      .catalog_id = "c0ffee",
      .keyspace = "shop",
      .key = KeyType::int64,
      .hash = HashStrategy::xxh3,
      .nodes =
          {{.name = "a", .dsn = "sqlite:/data/a"},
           {.name = "b", .dsn = "sqlite:/data/b", .weight = 2.5},
           {.name = "c", .dsn = "", .weight = 0.1, .state = NodeState::draining, .zone = "eu-1"}},
      .placement = {},
      .version = 12};
  for (int shard = 0; shard < 200; ++shard) {
    data.placement.push_back(static_cast<std::uint16_t>(shard * 7 % 3));
  }
  return data;
}

TopologyData changed(const std::function<void(TopologyData&)>& change) {
  TopologyData data = sample();
  change(data);
  return data;
}

TEST_CASE("a route is the shard of the hash and the node of the shard") {
  const Topology topology(sample());
  for (std::int64_t key = -1000; key < 1000; ++key) {
    const Route route = topology.route(key);
    CHECK(route.shard == shard_of(HashStrategy::xxh3, key, 200));
    CHECK(route.shard == topology.shard_of(key));
    CHECK(route.node == topology.node_of(route.shard));
    CHECK(route.node.value == topology.placement()[route.shard.value]);
  }
}

// Routing computes the hash of integers and texts in a quicker way than hash_key() does.
TEST_CASE("the quick way to a shard is the way that is pinned") {
  TopologyData data = sample();
  data.placement.assign(shard_count_max, 0);
  const Topology integers(data);
  data.key = KeyType::text;
  const Topology texts(data);
  std::mt19937_64 random(17);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = static_cast<std::int64_t>(random() >> (random() % 64));
    const std::int64_t key = i % 2 == 0 ? number : -number;
    const std::string text(random() % 300, static_cast<char>(random()));
    if (integers.shard_of(key) != shard_of(HashStrategy::xxh3, key, shard_count_max)) FAIL(key);
    if (texts.shard_of(text) != shard_of(HashStrategy::xxh3, text, shard_count_max)) FAIL(text);
  }
  for (const std::int64_t key : {INT64_MIN, INT64_MAX, std::int64_t{0}, std::int64_t{-1}}) {
    CHECK(integers.shard_of(key) == shard_of(HashStrategy::xxh3, key, shard_count_max));
  }
}

TEST_CASE("every strategy and type of key is routed as its hash says") {
  for (const HashStrategy strategy : hash_strategies()) {
    const Topology topology(changed([&](TopologyData& data) { data.hash = strategy; }));
    CHECK(topology.shard_of(-4711) == shard_of(strategy, -4711, 200));
  }
  const auto composite = [](TopologyData& data) { data.key = KeySpec::parse("int64,text"); };
  CHECK(Topology(changed(composite)).shard_of({42, "x"}) ==
        shard_of(HashStrategy::xxh3, {42, "x"}, 200));
}

TEST_CASE("a key of another type than the keyspace's is never routed") {
  const Topology topology(sample());
  CHECK(code_of([&] { topology.route("42"); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { topology.route({42, "x"}); }) == ErrorCode::invalid_argument);
  const Topology text(changed([](TopologyData& data) { data.key = KeyType::text; }));
  CHECK(code_of([&] { text.route(42); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { text.route(BlobView{"42"}); }) == ErrorCode::invalid_argument);
  const Topology pair(changed([](TopologyData& data) { data.key = KeySpec::parse("int64,text"); }));
  CHECK(code_of([&] { pair.route({42, 42}); }) == ErrorCode::invalid_argument);
  CHECK(code_of([&] { pair.route({42, "x", 1}); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a topology that contradicts itself is refused") {
  const std::vector<std::function<void(TopologyData&)>> mistakes = {
      [](TopologyData& data) { data.keyspace.clear(); },
      [](TopologyData& data) { data.nodes.clear(); },
      [](TopologyData& data) { data.nodes[1].name.clear(); },
      [](TopologyData& data) { data.nodes[1].name = "a"; },
      [](TopologyData& data) { data.nodes[1].weight = 0; },
      [](TopologyData& data) { data.nodes[1].weight = std::nan(""); },
      [](TopologyData& data) { data.placement.clear(); },
      [](TopologyData& data) { data.placement.assign(shard_count_max + 1, 0); },
      [](TopologyData& data) { data.placement[17] = 3; },
      [](TopologyData& data) {
        data.hash = HashStrategy::modulo;
        data.key = KeyType::text;
      }};
  for (const auto& mistake : mistakes) {
    CHECK(code_of([&] { Topology topology(changed(mistake)); }) == ErrorCode::invalid_argument);
  }
  CHECK_NOTHROW(Topology(sample()));
}

TEST_CASE("what is not there is not found") {
  const Topology topology(sample());
  CHECK(code_of([&] { topology.node_of(ShardId{200}); }) == ErrorCode::not_found);
  CHECK(code_of([&] { topology.node(NodeIndex{3}); }) == ErrorCode::not_found);
  CHECK(topology.find_node("b") == NodeIndex{1});
  CHECK_FALSE(topology.find_node("B"));
}

TEST_CASE("the shards of all nodes are all shards") {
  const Topology topology(sample());
  std::size_t sum = 0;
  for (std::uint16_t node = 0; node < 3; ++node) {
    for (const ShardId shard : topology.shards_of(NodeIndex{node})) {
      CHECK(topology.node_of(shard).value == node);
      ++sum;
    }
  }
  CHECK(sum == topology.shard_count());
}

TEST_CASE("a topology comes back from its text as it was") {
  CHECK(parse_topology(serialize(Topology(sample()))) == Topology(sample()));
  const auto hard = changed([](TopologyData& data) {
    data.keyspace = "a\tb\n%41 \"quoted\" Grüße";
    data.catalog_id = "";
    data.key = KeySpec::parse("uuid,int64");
    data.hash = HashStrategy::md5;
    data.version = UINT64_MAX;
    data.nodes[0].dsn = std::string("host=x password='p\0q'", 21);
    data.nodes[1].weight = 1.0 / 3;
    data.placement.resize(128);
  });
  CHECK(parse_topology(serialize(Topology(hard))) == Topology(hard));
  const auto one = changed([](TopologyData& data) { data.placement = {2}; });
  CHECK(parse_topology(serialize(Topology(one))) == Topology(one));
}

TEST_CASE("a text that was cut off or altered anywhere is corrupt") {
  const std::string text = serialize(Topology(sample()));
  for (std::size_t size = 0; size < text.size(); ++size) {
    CHECK(code_of([&] { parse_topology(text.substr(0, size)); }) == ErrorCode::corrupt);
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string altered = text;
    altered[at] = static_cast<char>(altered[at] ^ 1);
    CHECK(code_of([&] { parse_topology(altered); }) == ErrorCode::corrupt);
  }
  CHECK(code_of([&] { parse_topology(text + "\n"); }) == ErrorCode::corrupt);
  CHECK(code_of([&] { parse_topology(text + text); }) == ErrorCode::corrupt);
}

TEST_CASE("a text of another version is refused before anything else is read") {
  std::string text = serialize(Topology(sample()));
  text.replace(text.find("\t1\n"), 3, "\t2\n");
  CHECK(code_of([&] { parse_topology(text); }) == ErrorCode::corrupt);
}

TEST_CASE("node states are known by name") {
  for (const NodeState state : {NodeState::active, NodeState::draining, NodeState::removed}) {
    CHECK(parse_node_state(to_string(state)) == state);
  }
  CHECK(code_of([] { parse_node_state("gone"); }) == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace ringshard
