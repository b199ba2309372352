#include <fstream>
#include <iterator>
#include <ringshard/error.hpp>
#include <sstream>
#include <utility>

#include "backend/source.hpp"
#include "core/planner.hpp"
#include "setup/common.hpp"
#include "setup/fleet.hpp"
#include "setup/schema_split.hpp"
#include "setup/setup.hpp"

namespace ringshard {

namespace setup {
namespace {

std::string read_schema_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorCode::not_found,
                "the schema file " + path + " (keyspace.schema) can not be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

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

/// The tables of the schema file, tried out and divided. Throws Error{schema} for all that is wrong
/// with them.
SplitSchema read_and_split(const std::string& path, const Division& division, Backend& backend,
                           const std::string& dsn, const std::string& keyspace) {
  const std::string text = read_schema_file(path);
  ScratchHomes scratch(backend, keyspace);
  try {
    scratch.make(scratch.whole(), {text});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::sql && error.code() != ErrorCode::constraint) throw;
    throw Error(ErrorCode::schema, "the schema file " + path + " is wrong: " + error.what());
  }
  Problems problems;
  const std::string headline = "the schema file " + path + " can not be used:";
  SourceDatabase whole{backend.connect(scratch.whole(), SessionUse::maintenance), backend.dialect(),
                       schema_parts_of(dsn)};
  SplitSchema split;
  {
    SessionTransaction tx(*whole.session, scratch.whole(), TxMode::read, Deadline());
    const HomeSchema schema = whole.dialect.describe_schema(*whole.session);
    note_obstacles(*whole.session, whole.dialect, problems);
    division.check(schema, problems);
    for (const Table& table : schema.tables)
      if (whole.session->integer("SELECT count(*) FROM " + quoted(table.name)) != 0)
        problems.add("it puts rows into table '" + table.name + "': only definitions belong there");
    problems.throw_if_any(headline);
    split = split_schema(whole, division, scratch, Leftovers::refuse, problems);
    problems.throw_if_any(headline);
  }
  whole.session.reset();
  return split;
}

/// What an earlier init that did not get to its end made. Throws Error{already_exists} if it did
/// get there.
void clear_unfinished(const Config& config, const BackendOptions& options, Clock& clock,
                      Progress& progress) {
  const std::string& name = config.keyspace.name;
  auto catalog = open_if_there(config.catalog, clock);
  const auto existing = catalog ? catalog->keyspace(name) : std::nullopt;
  if (!existing) return;
  if (existing->state == KeyspaceState::importing || config.keyspace.schema) {
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
  if (!config.keyspace.schema)
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
  const NodeInfo& trial_node = first_active(nodes);
  // All that can be refused is refused by what only looks.
  const Topology topology(TopologyData{.catalog_id = "",
                                       .keyspace = definition.name,
                                       .key = KeySpec::parse(definition.key_type),
                                       .hash = definition.hash,
                                       .nodes = nodes,
                                       .placement = place_shards(config, nodes),
                                       .version = 0});
  require_new(config, clock);
  require_one_kind(nodes);
  require_usable(nodes, options, clock);
  SplitSchema split;
  if (config.keyspace.schema) {
    const auto backend = open_backend(trial_node.dsn, clock, options);
    const Division division(KeySpec::parse(definition.key_type), definition.tables);
    split = read_and_split(*config.keyspace.schema, division, *backend, trial_node.dsn,
                           definition.name);
  }
  clear_unfinished(config, options, clock, progress);
  NewFleet fleet(topology, options, clock);
  require_no_strangers(fleet);

  Catalog catalog = Catalog::create(config.catalog, clock);
  definition.state = KeyspaceState::empty;
  catalog.create_keyspace(definition, nodes, topology.placement());
  InitReport report{.state = KeyspaceState::empty,
                    .nodes = static_cast<std::int64_t>(nodes.size()),
                    .homes = 0,
                    .tables = static_cast<std::int64_t>(definition.tables.size())};
  if (!config.keyspace.schema) return report;

  const std::string setup_id = catalog.begin_setup(definition.name);
  fleet.make_homes(split.home, split.reference, progress);
  definition.home_schema = std::move(split.home);
  definition.reference_schema = std::move(split.reference);
  definition.state = report.state = KeyspaceState::ready;
  catalog.finish_setup(setup_id, definition);
  report.homes = definition.shard_count;
  return report;
}

}  // namespace ringshard
