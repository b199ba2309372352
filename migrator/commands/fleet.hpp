#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ringshard/config.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <string_view>

#include "backend/home_store.hpp"
#include "catalog/catalog.hpp"
#include "migrator/cli.hpp"
#include "mover/nodes.hpp"
#include "mover/options.hpp"

namespace ringshard::cli {

/// What a command on a fleet works with: configuration, catalog, and the databases of the nodes
/// that the catalog knows. For one thread at a time.
struct OpenFleet {
  Config config;
  Catalog catalog;
  KeyspaceDefinition keyspace;
  Topology topology;
  Nodes nodes;

  const std::string& node_of(ShardId shard) const {
    return topology.node(topology.node_of(shard)).name;
  }
  HomeName home_of(ShardId shard) const { return {keyspace.name, shard}; }
};

/// Reads the configuration. Whatever is wrong with it, the file's absence too, is Error{config} or
/// Error{invalid_argument}.
Config read_config(const CommonOptions& options);

/// Opens what the configuration names. Error{not_found} if there is no catalog or keyspace yet,
/// Error{refused} if the configuration describes another keyspace than the catalog, or the keyspace
/// is not ready.
OpenFleet open_fleet(const CommonOptions& options, Clock& clock);
OpenFleet open_fleet(Config config, Clock& clock);

MoveOptions move_options(const Config& config);

/// The move of this id, or the one whose id begins so. Error{not_found}; Error{invalid_argument} if
/// several do.
MoveRecord find_move(Catalog& catalog, std::string_view keyspace, const std::string& id);

/// Somebody runs the move at this moment, as far as this clock knows.
bool is_being_run(const MoveRecord& move, Clock& clock);

/// Runs `work` in one read transaction inside a home of a node.
void read_home(Backend& backend, const HomeName& home,
               const std::function<void(HomeStore&, const std::optional<HomeRecord>&)>& work);

}  // namespace ringshard::cli
