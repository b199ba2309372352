#include <algorithm>
#include <cmath>
#include <limits>
#include <ringshard/error.hpp>
#include <ringshard/topology.hpp>
#include <set>
#include <utility>

#include "core/hash_inline.hpp"

namespace ringshard {

namespace {

constexpr std::size_t nodes_max = std::numeric_limits<std::uint16_t>::max();

Error invalid(const TopologyData& data, const std::string& message) {
  return Error(ErrorCode::invalid_argument,
               "keyspace " + describe(ValueView(data.keyspace)) + ": " + message);
}

void check_nodes(const TopologyData& data) {
  if (data.nodes.empty() || data.nodes.size() > nodes_max) {
    throw invalid(data, std::to_string(data.nodes.size()) + " nodes, but there have to be 1 … " +
                            std::to_string(nodes_max));
  }
  std::set<std::string_view> names;
  for (const NodeInfo& node : data.nodes) {
    if (node.name.empty()) throw invalid(data, "a node has no name");
    if (!names.insert(node.name).second) {
      throw invalid(data, "two nodes have the name " + describe(ValueView(node.name)));
    }
    if (!std::isfinite(node.weight) || node.weight <= 0) {
      throw invalid(data, "node " + describe(ValueView(node.name)) + " has the weight " +
                              describe(ValueView(node.weight)) +
                              ", but a weight is a positive number");
    }
  }
}

void check_placement(const TopologyData& data) {
  if (data.placement.empty() || data.placement.size() > shard_count_max) {
    throw invalid(data, std::to_string(data.placement.size()) +
                            " shards are placed, but their number has to lie in 1 … " +
                            std::to_string(shard_count_max));
  }
  for (std::size_t shard = 0; shard < data.placement.size(); ++shard) {
    if (data.placement[shard] < data.nodes.size()) continue;
    throw invalid(data, "shard " + std::to_string(shard) + " is placed on node number " +
                            std::to_string(data.placement[shard]) + ", but there are only " +
                            std::to_string(data.nodes.size()) + " nodes");
  }
}

}  // namespace

std::string_view to_string(NodeState state) noexcept {
  switch (state) {
    case NodeState::active:
      return "active";
    case NodeState::draining:
      return "draining";
    case NodeState::removed:
      return "removed";
  }
  return "removed";
}

NodeState parse_node_state(std::string_view text) {
  for (const NodeState state : {NodeState::active, NodeState::draining, NodeState::removed}) {
    if (text == to_string(state)) return state;
  }
  throw Error(ErrorCode::invalid_argument, "unknown node state " + describe(ValueView(text)) +
                                               ": use active, draining or removed");
}

Topology::Topology(TopologyData data) : data_(std::move(data)) {
  if (data_.keyspace.empty()) throw invalid(data_, "a keyspace needs a name");
  check_nodes(data_);
  check_placement(data_);
  key_type_ = data_.key.type();
  hash_ = data_.hash;
  shard_count_ = static_cast<std::uint32_t>(data_.placement.size());
  if (data_.hash == HashStrategy::modulo && key_type_ != KeyType::int64) {
    throw invalid(data_, "the hash strategy modulo takes int64 keys only, and the key type is " +
                             data_.key.to_string());
  }
}

NodeIndex Topology::node_of(ShardId shard) const {
  if (shard.value >= shard_count_) {
    throw Error(ErrorCode::not_found, "keyspace " + describe(ValueView(data_.keyspace)) +
                                          " has no shard " + std::to_string(shard.value) +
                                          ": its shards are 0 … " +
                                          std::to_string(shard_count_ - 1));
  }
  return NodeIndex{data_.placement[shard.value]};
}

Route Topology::route_text(std::string_view key) const {
  if (hash_ != HashStrategy::xxh3) [[unlikely]]
    return route_any(key);
  return scaled(core::xxh3(key));
}

Route Topology::route_any(const Key& key) const {
  check_key(data_.key, key);
  const ShardId shard = core::shard_of_hash(hash_, core::hash_of(hash_, key), shard_count_);
  return {shard, NodeIndex{data_.placement[shard.value]}};
}

const NodeInfo& Topology::node(NodeIndex index) const {
  if (index.value >= data_.nodes.size()) {
    throw Error(ErrorCode::not_found, "there is no node number " + std::to_string(index.value) +
                                          " in keyspace " + describe(ValueView(data_.keyspace)) +
                                          ", which has " + std::to_string(data_.nodes.size()));
  }
  return data_.nodes[index.value];
}

std::optional<NodeIndex> Topology::find_node(std::string_view name) const noexcept {
  const auto found = std::ranges::find(data_.nodes, name, &NodeInfo::name);
  if (found == data_.nodes.end()) return std::nullopt;
  return NodeIndex{static_cast<std::uint16_t>(found - data_.nodes.begin())};
}

std::vector<ShardId> Topology::shards_of(NodeIndex index) const {
  std::vector<ShardId> shards;
  for (std::uint32_t shard = 0; shard < shard_count_; ++shard) {
    if (data_.placement[shard] == index.value) shards.push_back(ShardId{shard});
  }
  return shards;
}

}  // namespace ringshard
