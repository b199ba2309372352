#include <ringshard/error.hpp>
#include <utility>

#include "core/planner.hpp"
#include "setup/common.hpp"
#include "setup/engine_schema.hpp"
#include "setup/fleet.hpp"
#include "setup/setup.hpp"

namespace ringshard {

namespace setup {
namespace {

std::size_t node_index(const std::vector<NodeInfo>& nodes, const std::string& name) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].name == name) return i;
  throw Error(ErrorCode::config, "pins or forbidden places name the node '" + name +
                                     "', which the configuration does not have");
}

/// Even by weight, and pins and forbidden places kept.
std::vector<std::uint16_t> place_shards(const Config& config, const std::vector<NodeInfo>& nodes) {
  PlanRequest request;
  request.nodes = nodes;
  request.placement = initial_placement(nodes, config.keyspace.shards);
  const auto place = [&](std::uint32_t shard, const std::string& node) {
    return ShardNode{ShardId{shard},
                     NodeIndex{static_cast<std::uint16_t>(node_index(nodes, node))}};
  };
  for (const auto& [shard, node] : config.pins) request.pins.push_back(place(shard, node));
  for (const auto& [shard, names] : config.forbidden)
    for (const std::string& node : names) request.forbidden.push_back(place(shard, node));
  if (request.pins.empty() && request.forbidden.empty()) return request.placement;
  return plan_moves(request).placement;
}

/// What an earlier init that did not get to its end made. Throws Error{already_exists} if it did
/// get there.
void clear_unfinished(const Config& config, const BackendOptions& options, Clock& clock,
                      Progress& progress) {
  const std::string& name = config.keyspace.name;
  auto catalog = open_if_there(config.catalog, clock);
  const auto existing = catalog ? catalog->keyspace(name) : std::nullopt;
  if (!existing) return;
  if (existing->state == KeyspaceState::importing || !config.keyspace.schema.empty()) {
    static_cast<void>(catalog->begin_setup(name));
    NewFleet fleet(catalog->topology(name, true), options, clock);
    fleet.drop_homes(progress);
    catalog->drop_keyspace(name);
  }
}

void require_new(const Config& config, Clock& clock) {
  auto catalog = open_if_there(config.catalog, clock);
  const auto existing = catalog ? catalog->keyspace(config.keyspace.name) : std::nullopt;
  if (!existing || existing->state == KeyspaceState::importing) return;
  const std::string what = "keyspace '" + config.keyspace.name + "' is in the catalog already";
  if (existing->state == KeyspaceState::ready)
    throw Error(ErrorCode::already_exists, what + " and is ready: there is nothing to do");
  if (config.keyspace.schema.empty())
    throw Error(ErrorCode::already_exists, what + " and waits for `ringshard import`");
}

void require_no_strangers(NewFleet& fleet) {
  const auto found = fleet.homes_found();
  if (found.empty()) return;
  throw Error(ErrorCode::refused, "the nodes already hold " + std::to_string(found.size()) +
                                      " homes of keyspace '" + fleet.topology().keyspace() +
                                      "' that the catalog does not know (" + found.front() +
                                      (found.size() > 1 ? ", …" : "") +
                                      "): is this the right catalog? If nobody needs "
                                      "them, remove them by hand");
}

}  // namespace
}  // namespace setup

InitReport init_fleet(const Config& config, Clock& clock, Progress& progress) {
  using namespace setup;
  KeyspaceDefinition definition = to_definition(config.keyspace);
  std::vector<NodeInfo> nodes;
  for (const NodeConfig& node : config.nodes) nodes.push_back(to_node(node));
  const BackendOptions options = to_backend_options(config);
  static_cast<void>(first_active(nodes));
  // All that can be refused is refused by what only looks.
  const Topology topology(TopologyData{.catalog_id = "",
                                       .keyspace = definition.name,
                                       .key = KeySpec::parse(definition.key_type),
                                       .hash = definition.hash,
                                       .nodes = nodes,
                                       .placement = place_shards(config, nodes),
                                       .version = 0});
  require_new(config, clock);
  if (!config.keyspace.schema.empty()) require_schemas(nodes, config.keyspace, definition.schemas);
  require_usable(nodes, options, clock);
  if (!config.keyspace.schema.empty())
    for (const auto& [engine, node] : first_of_each_engine(nodes))
      definition.schemas[engine] = read_schema(config.keyspace, *node, options, clock);
  clear_unfinished(config, options, clock, progress);
  NewFleet fleet(topology, options, clock);
  require_no_strangers(fleet);

  Catalog catalog = Catalog::create(config.catalog, clock);
  definition.state = KeyspaceState::empty;
  const auto schemas = std::exchange(definition.schemas, {});
  catalog.create_keyspace(definition, nodes, topology.placement());
  InitReport report{.state = KeyspaceState::empty,
                    .nodes = static_cast<std::int64_t>(nodes.size()),
                    .homes = 0,
                    .tables = static_cast<std::int64_t>(definition.tables.size())};
  if (config.keyspace.schema.empty()) return report;

  const std::string setup_id = catalog.begin_setup(definition.name);
  definition.schemas = schemas;
  fleet.make_homes(definition.schemas, progress);
  definition.state = report.state = KeyspaceState::ready;
  catalog.finish_setup(setup_id, definition);
  report.homes = definition.shard_count;
  return report;
}

}  // namespace ringshard
