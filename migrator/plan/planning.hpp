#pragma once

#include "migrator/commands/fleet.hpp"
#include "migrator/plan/plan.hpp"

namespace ringshard::cli {

/// Compares the nodes of the configuration with the catalog and finds the fewest moves. Reads rows
/// and bytes of the shards that are to move (of all, where they are what is balanced); changes
/// nothing.
///
/// A node that has shards and is not in the configuration is Error{refused}: it is to be `draining`
/// first. So is a node with shards whose DSN is another one now, and one whose database another
/// node has. A node without shards that is not in the configuration becomes `removed`. Shards of
/// unfinished moves are counted where these take them, and left alone.
Plan make_plan(OpenFleet& fleet, const PlanningOptions& options, Clock& clock);

/// What the configuration wants of the catalog's nodes.
struct WantedNodes {
  std::vector<NodeInfo> nodes;       ///< to store: those of the catalog, then those that are new
  std::vector<std::string> joining;  ///< names of those that are new or come back
  std::vector<std::string> changes;  ///< a sentence for each difference
};

/// Errors as above.
WantedNodes nodes_wanted(const Config& config, const Topology& topology,
                         const std::vector<MoveRecord>& unfinished);

}  // namespace ringshard::cli
