#pragma once

#include <string>

#include "migrator/commands/fleet.hpp"

namespace ringshard::cli {

// What `doctor --mend` does. Each looks again at what it relies on, under the home's lock where
// there is one, and throws Error{refused} if it is not so any more: somebody else may have gone on
// meanwhile.

/// Removes the home of a shard from a node: a mirror whose move is over or unknown, of a shard that
/// another node owns.
void drop_leftover(OpenFleet& fleet, ShardId shard, const std::string& node, Clock& clock);

/// Removes triggers and log from an owner that is in no unfinished move, and brings its record to
/// rest.
void end_capture(OpenFleet& fleet, ShardId shard, const std::string& node, Clock& clock);

/// Finishes a handover that `old_owner` has decided.
void promote(OpenFleet& fleet, ShardId shard, const std::string& old_owner,
             const std::string& new_owner, Clock& clock);

/// Sets the placement of a shard to the node whose home says owner.
void correct_placement(OpenFleet& fleet, ShardId shard, const std::string& owner);

}  // namespace ringshard::cli
