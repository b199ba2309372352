#include "migrator/doctor/homes.hpp"

#include <optional>
#include <ringshard/error.hpp>

namespace ringshard::cli {

FoundHome read_found_home(Backend& backend, const HomeName& home) {
  FoundHome found;
  try {
    read_home(backend, home, [&](HomeStore& store, const std::optional<HomeRecord>& record) {
      found.has_record = record.has_value();
      if (record) found.record = *record;
      found.has_capture = store.dialect().has_capture(store.session());
    });
  } catch (const Error& error) {
    found.error = error.what();
  }
  return found;
}

HomesOfShard find_homes(OpenFleet& fleet, ShardId shard) {
  HomesOfShard homes;
  for (const NodeInfo& node : fleet.topology.nodes()) {
    if (node.state == NodeState::removed) continue;
    try {
      Backend& backend = fleet.nodes.at(node.name);
      const HomeName home = fleet.home_of(shard);
      if (backend.home_exists(home)) homes.emplace(node.name, read_found_home(backend, home));
    } catch (const Error&) {
      // Said once for the whole node, by find_all_homes().
    }
  }
  return homes;
}

FoundHomes find_all_homes(OpenFleet& fleet) {
  FoundHomes found;
  for (const NodeInfo& node : fleet.topology.nodes()) {
    if (node.state == NodeState::removed) continue;
    try {
      Backend& backend = fleet.nodes.at(node.name);
      for (const HomeName& home : backend.homes(fleet.keyspace.name))
        if (home.shard)
          found.shards[*home.shard].emplace(node.name, read_found_home(backend, home));
    } catch (const Error& error) {
      found.unreachable.emplace(node.name, error.what());
    }
  }
  return found;
}

}  // namespace ringshard::cli
