#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ringshard/topology.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "router/node.hpp"

namespace ringshard::router {

/// One version of the topology with its nodes, as all threads share it. Immutable but for the
/// learned places: where a shard was met although the placement says something else. What was
/// learned under one version can not survive it, nor get into a later one, as it is kept here.
class View {
 public:
  View(std::shared_ptr<const Topology> topology, std::vector<std::shared_ptr<Node>> nodes)
      : topology_(std::move(topology)),
        nodes_(std::move(nodes)),
        places_(std::make_unique<std::atomic<std::uint16_t>[]>(topology_->shard_count())) {
    for (std::size_t shard = 0; shard < topology_->shard_count(); ++shard) {
      places_[shard].store(topology_->placement()[shard], std::memory_order_relaxed);
    }
  }

  const Topology& topology() const noexcept { return *topology_; }
  const std::shared_ptr<const Topology>& shared_topology() const noexcept { return topology_; }
  const std::vector<std::shared_ptr<Node>>& nodes() const noexcept { return nodes_; }

  /// Where to look first. The shard has to exist.
  NodeIndex place_of(ShardId shard) const noexcept {
    return NodeIndex{places_[shard.value].load(std::memory_order_relaxed)};
  }
  void learn(ShardId shard, NodeIndex owner) const noexcept {
    places_[shard.value].store(owner.value, std::memory_order_relaxed);
  }

  Node& node(NodeIndex index) const noexcept { return *nodes_[index.value]; }
  std::optional<NodeIndex> find(std::string_view name) const noexcept {
    return topology_->find_node(name);
  }

 private:
  std::shared_ptr<const Topology> topology_;
  std::vector<std::shared_ptr<Node>> nodes_;  // by NodeIndex
  // By shard. A hint only, so no order between it and anything else is needed.
  std::unique_ptr<std::atomic<std::uint16_t>[]> places_;
};

}  // namespace ringshard::router
