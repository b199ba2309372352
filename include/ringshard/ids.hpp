#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ringshard {

/// A logical shard, 0 … S-1, where S is fixed when its keyspace is made.
struct ShardId {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(ShardId, ShardId) = default;
};

/// Position of a node in a Topology's node list. It means nothing outside that topology: nodes are
/// known by name everywhere else.
struct NodeIndex {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(NodeIndex, NodeIndex) = default;
};

/// S has to lie in 1 … this.
inline constexpr std::uint32_t shard_count_max = 1U << 20;

/// S where nothing else is said.
inline constexpr std::uint32_t shard_count_default = 1024;

}  // namespace ringshard

template <>
struct std::hash<ringshard::ShardId> {
  std::size_t operator()(ringshard::ShardId shard) const noexcept { return shard.value; }
};
