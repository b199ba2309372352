#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ringshard/ids.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <vector>

#include "migrator/cli.hpp"

namespace ringshard::cli {

struct PlannedMove {
  std::string id;
  ShardId shard;
  std::string source;  ///< node names
  std::string target;
  std::int64_t rows = 0;  ///< estimates
  std::int64_t bytes = 0;

  friend bool operator==(const PlannedMove&, const PlannedMove&) = default;
};

/// What `apply` will do, and what it will bring. Made against one version of the catalog; worthless
/// at any other.
struct Plan {
  std::string id;
  std::string keyspace;
  std::string catalog_id;
  std::uint64_t version = 0;  ///< of the keyspace when the plan was made
  std::int64_t created_ms = 0;
  BalanceBy by = BalanceBy::shards;

  /// All nodes as they are to be stored before the moves begin.
  std::vector<NodeInfo> nodes;
  std::vector<PlannedMove> moves;  ///< in the order in which they help most

  // For people. Shares and balances as in PlacementPlan (core/planner.hpp).
  double share_moved = 0;
  double least_share = 0;
  double balance_before = 1;
  double balance_after = 1;
  std::size_t moves_left_out = 0;  ///< because of --max-moves
  std::optional<ShardId> floor_shard;
  double balance_floor = 1;
  bool rows_counted = true;          ///< false: rows are estimated from bytes for some moves
  std::size_t shards_in_moves = 0;   ///< left alone, since an unfinished move has them
  std::vector<std::string> changes;  ///< to nodes, as sentences

  friend bool operator==(const Plan&, const Plan&) = default;
};

}  // namespace ringshard::cli
