#pragma once

#include <map>
#include <ringshard/ids.hpp>
#include <string>
#include <vector>

#include "core/home.hpp"
#include "migrator/commands/fleet.hpp"

namespace ringshard::cli {

/// A home of a shard as it was found on a node.
struct FoundHome {
  HomeRecord record;
  bool has_record = false;
  bool has_capture = false;
  std::string error;  ///< why it can not be read; empty: it can
};

/// Homes by the name of the node that they are on.
using HomesOfShard = std::map<std::string, FoundHome>;

struct FoundHomes {
  std::map<ShardId, HomesOfShard> shards;
  std::map<std::string, std::string> unreachable;  ///< node → why it could not be asked
};

/// One home, read now.
FoundHome read_found_home(Backend& backend, const HomeName& home);

/// The homes of one shard on the nodes that can be reached.
HomesOfShard find_homes(OpenFleet& fleet, ShardId shard);

/// Looks at every node that is not removed for every home of the keyspace.
FoundHomes find_all_homes(OpenFleet& fleet);

}  // namespace ringshard::cli
