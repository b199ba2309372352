#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ringshard/ids.hpp>
#include <ringshard/topology.hpp>
#include <vector>

namespace ringshard {

/// The number of shards for each node by D'Hondt (Jefferson): each next shard goes to the node with
/// the largest weight / (shards + 1), the first of equals. A weight of 0 gets none. The sum is
/// shard_count. Throws Error{refused} if no weight is positive, Error{invalid_argument} if one is
/// negative or not a number.
std::vector<std::uint32_t> quotas(const std::vector<double>& weights, std::uint32_t shard_count);

/// A first placement of `shard_count` shards on the active nodes: each shard has a place on the
/// hash ring and goes clockwise to the first node whose quota is not full, so the quotas are met
/// exactly. The result has positions in `nodes`. Throws Error{refused} if no node is active.
std::vector<std::uint16_t> initial_placement(const std::vector<NodeInfo>& nodes,
                                             std::uint32_t shard_count);

/// One shard and one node: a pin, or a place where the shard must not be.
struct ShardNode {
  ShardId shard;
  NodeIndex node;
  friend bool operator==(ShardNode, ShardNode) = default;
};

struct PlanRequest {
  /// All nodes; those of today and those that join. `placement` counts in this list.
  std::vector<NodeInfo> nodes{};
  std::vector<std::uint16_t> placement{};
  /// The shard has to be on this node, and stays there.
  std::vector<ShardNode> pins{};
  /// The shard must not be on this node; if it is, it moves away.
  std::vector<ShardNode> forbidden{};
  /// These nodes are given no shard that they do not have. They may lose some.
  std::vector<NodeIndex> forbidden_nodes{};
  /// A node within this part of its due is left alone: 0.10 accepts 10 % more or less.
  double tolerance = 0;
  /// What each shard costs (rows, bytes, load), not negative. Empty: every shard counts the same.
  std::vector<double> by{};
  /// At most this many moves; a plan that is cut short says so. Moves that pins, forbidden places
  /// and draining nodes ask for come first.
  std::optional<std::size_t> moves_max{};
};

struct ShardMove {
  ShardId shard;
  NodeIndex from;
  NodeIndex to;
  friend bool operator==(const ShardMove&, const ShardMove&) = default;
};

/// Shares are parts of the whole, 0 … 1, of the shards' number or of their cost (`by`). Balance is
/// the largest load of an active node for its weight over the mean: 1 is perfect, 1.2 is 20 % over.
struct PlacementPlan {
  std::vector<ShardMove> moves;  ///< in the order in which they help most
  double share_moved = 0;
  /// The least that any plan has to move to reach the same balance: what nodes have beyond their
  /// due, and shards that may not stay where they are.
  double least_share = 0;
  double balance_before = 0;
  double balance_after = 0;
  /// Moves that were left out because of moves_max; with `by` only those that had to be made.
  std::size_t moves_left_out = 0;
  /// Set if this shard alone is more than an even load, so that no plan can balance better than
  /// `balance_floor`.
  std::optional<ShardId> floor_shard;
  double balance_floor = 1;
  /// The placement once all moves are done.
  std::vector<std::uint16_t> placement;
};

/// The fewest moves from today's placement to the quotas of the active nodes, all constraints kept
/// and draining nodes emptied. Which shards move is decided by the hash ring: a node that
/// joins takes shards that the ring gives it. If forbidden places make the quotas unreachable, the
/// nearest that can be reached are taken. With `by`, shards move from the node with the most cost
/// for its weight until it is within `tolerance` (at least 1 %, since a measurement is no truth) or
/// no move helps. The same request always gives the same plan.
///
/// Throws Error{refused} if no node is active, pins contradict one another or the rest, a shard has
/// no place left to be, or a removed node still has a shard; Error{invalid_argument} if an index, a
/// size, a weight, a cost or the tolerance is out of range.
PlacementPlan plan_moves(const PlanRequest& request);

}  // namespace ringshard
