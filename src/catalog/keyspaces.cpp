#include <array>
#include <cstddef>
#include <map>
#include <ringshard/error.hpp>
#include <variant>

#include "catalog/implementation.hpp"

namespace ringshard {

namespace {

KeyspaceState state_of(const Value& value) {
  const auto state = parse_keyspace_state(text_of(value));
  if (!state)
    throw Error(ErrorCode::corrupt,
                "the catalog holds the unknown keyspace state " + text_of(value));
  return *state;
}

double real_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return static_cast<double>(integer_of(value));
}

std::optional<KeyspaceDefinition> load_header(Session& session, std::string_view name) {
  const auto row = session.first_row(
      "SELECT name, key_type, hash, shard_count, state FROM ringshard_keyspace WHERE name = $1",
      {name});
  if (!row) return std::nullopt;
  KeyspaceDefinition definition;
  definition.name = text_of((*row)[0]);
  definition.key_type = text_of((*row)[1]);
  definition.hash = parse_hash_strategy(text_of((*row)[2]));
  definition.shard_count = static_cast<std::uint32_t>(integer_of((*row)[3]));
  definition.state = state_of((*row)[4]);
  return definition;
}

KeyspaceDefinition require_header(Session& session, std::string_view name) {
  auto definition = load_header(session, name);
  if (!definition)
    throw Error(ErrorCode::not_found,
                "the catalog has no keyspace '" + std::string(name) + "': run `ringshard init`");
  return *std::move(definition);
}

void require_not_ready(Session& session, std::string_view name, std::string_view what) {
  if (require_header(session, name).state == KeyspaceState::ready)
    throw Error(ErrorCode::refused, "keyspace '" + std::string(name) +
                                        "' is ready and in use: it can not be " +
                                        std::string(what));
}

[[noreturn]] void lose_setup(std::string_view name) {
  throw Error(ErrorCode::lease_lost,
              "another init or import of keyspace '" + std::string(name) +
                  "' has begun since this one did: this one stops, the newest one goes on");
}

std::vector<std::uint16_t> load_placement(Session& session, const KeyspaceDefinition& definition) {
  std::vector<std::uint16_t> placement;
  placement.reserve(definition.shard_count);
  session.for_each("SELECT shard, node FROM ringshard_placement WHERE keyspace = $1 ORDER BY shard",
                   {std::string_view(definition.name)}, [&](RowView row) {
                     const Value shard = to_value(row[0]);
                     if (integer_of(shard) != static_cast<std::int64_t>(placement.size()))
                       throw Error(ErrorCode::corrupt, "the catalog has no placement for shard " +
                                                           std::to_string(placement.size()));
                     placement.push_back(static_cast<std::uint16_t>(integer_of(to_value(row[1]))));
                     return true;
                   });
  return placement;
}

}  // namespace

std::optional<KeyspaceDefinition> Catalog::keyspace(std::string_view name) {
  std::optional<KeyspaceDefinition> definition;
  implementation_->read([&](Session& session) {
    definition = load_header(session, name);
    if (definition) catalog_rows::load_tables(session, *definition);
  });
  return definition;
}

void Catalog::create_keyspace(const KeyspaceDefinition& definition,
                              const std::vector<NodeInfo>& nodes,
                              const std::vector<std::uint16_t>& placement) {
  const std::string_view name = definition.name;
  if (placement.size() != definition.shard_count)
    throw Error(ErrorCode::invalid_argument,
                "keyspace '" + definition.name + "' has " + std::to_string(definition.shard_count) +
                    " shards, its placement " + std::to_string(placement.size()));
  implementation_->write([&](Session& session) {
    if (load_header(session, name))
      throw Error(ErrorCode::already_exists,
                  "keyspace '" + definition.name + "' is in the catalog already");
    session.execute(
        "INSERT INTO ringshard_keyspace (name, key_type, hash, shard_count, state, setup_id, "
        "version) "
        "VALUES ($1, $2, $3, $4, $5, '', 1)",
        {name, std::string_view(definition.key_type), to_string(definition.hash),
         std::int64_t{definition.shard_count}, to_string(definition.state)});
    catalog_rows::store_tables(session, definition);
    implementation_->upsert_nodes(name, nodes);
    for (std::size_t shard = 0; shard < placement.size(); ++shard) {
      if (placement[shard] >= nodes.size())
        throw Error(ErrorCode::invalid_argument,
                    "shard " + std::to_string(shard) + " is placed on a node that is not there");
      session.execute("INSERT INTO ringshard_placement (keyspace, shard, node) VALUES ($1, $2, $3)",
                      {name, static_cast<std::int64_t>(shard), std::int64_t{placement[shard]}});
    }
    implementation_->note(name, "", "keyspace",
                          "created with " + std::to_string(definition.shard_count) + " shards on " +
                              std::to_string(nodes.size()) + " nodes",
                          1);
  });
}

void Catalog::set_keyspace_state(std::string_view name, KeyspaceState state) {
  implementation_->write([&](Session& session) {
    static_cast<void>(require_header(session, name));
    session.execute("UPDATE ringshard_keyspace SET state = $2 WHERE name = $1",
                    {name, to_string(state)});
    implementation_->note(name, "", "keyspace", "state " + std::string(to_string(state)),
                          implementation_->raise_version(name));
  });
}

void Catalog::store_schema(std::string_view name, std::string_view engine,
                           const KeyspaceSchema& schema) {
  implementation_->write([&](Session& session) {
    static_cast<void>(require_header(session, name));
    catalog_rows::store_schemas(session, name, engine, schema);
    implementation_->note(name, "", "keyspace",
                          "schema for " + std::string(engine) + " with " +
                              std::to_string(schema.home.tables.size()) + " tables",
                          implementation_->version_of(name));
  });
}

std::string Catalog::begin_setup(std::string_view name) {
  const std::string setup_id = random_id();
  implementation_->write([&](Session& session) {
    require_not_ready(session, name, "set up again");
    session.execute("UPDATE ringshard_keyspace SET setup_id = $2, state = $3 WHERE name = $1",
                    {name, std::string_view(setup_id), to_string(KeyspaceState::importing)});
    implementation_->note(name, "", "setup", "begun", implementation_->raise_version(name));
  });
  return setup_id;
}

void Catalog::check_setup(std::string_view setup_id, std::string_view name) {
  implementation_->read([&](Session& session) {
    const std::int64_t current =
        session.integer("SELECT count(*) FROM ringshard_keyspace WHERE name = $1 AND setup_id = $2",
                        {name, setup_id});
    if (current != 1) lose_setup(name);
  });
}

void Catalog::finish_setup(std::string_view setup_id, const KeyspaceDefinition& definition) {
  const std::string_view name = definition.name;
  implementation_->write([&](Session& session) {
    const std::int64_t changed = session.execute(
        "UPDATE ringshard_keyspace SET setup_id = '', state = $3 WHERE name = $1 AND setup_id = $2",
        {name, setup_id, to_string(definition.state)});
    if (changed != 1) lose_setup(name);
    catalog_rows::erase_tables(session, name);
    catalog_rows::store_tables(session, definition);
    implementation_->note(name, "", "setup",
                          "finished, state " + std::string(to_string(definition.state)),
                          implementation_->raise_version(name));
  });
}

void Catalog::drop_keyspace(std::string_view name) {
  constexpr std::array statements{"DELETE FROM ringshard_keyspace WHERE name = $1",
                                  "DELETE FROM ringshard_node WHERE keyspace = $1",
                                  "DELETE FROM ringshard_placement WHERE keyspace = $1",
                                  "DELETE FROM ringshard_move WHERE keyspace = $1"};
  implementation_->write([&](Session& session) {
    require_not_ready(session, name, "dropped");
    implementation_->note(name, "", "keyspace", "dropped", implementation_->version_of(name));
    catalog_rows::erase_tables(session, name);
    for (const char* statement : statements) session.execute(statement, {name});
  });
}

Topology Catalog::topology(std::string_view keyspace, bool any_state) {
  TopologyData data;
  implementation_->read([&](Session& session) {
    const KeyspaceDefinition header = require_header(session, keyspace);
    if (header.state != KeyspaceState::ready && !any_state)
      throw Error(ErrorCode::refused,
                  "keyspace '" + header.name + "' is not ready, its state is " +
                      std::string(to_string(header.state)) +
                      (header.state == KeyspaceState::empty
                           ? ": run `ringshard import`, or `ringshard init` with a schema"
                           : ": an init or import is under way or failed; run it again"));
    data = TopologyData{.catalog_id = implementation_->id,
                        .keyspace = header.name,
                        .key = KeySpec::parse(header.key_type),
                        .hash = header.hash,
                        .nodes = implementation_->nodes_of(keyspace),
                        .placement = load_placement(session, header),
                        .version = implementation_->version_of(keyspace)};
    if (data.placement.size() != header.shard_count)
      throw Error(ErrorCode::corrupt, "the catalog has " + std::to_string(data.placement.size()) +
                                          " of " + std::to_string(header.shard_count) +
                                          " shards of keyspace '" + header.name + "'");
  });
  return Topology(std::move(data));
}

// ---- nodes

std::vector<NodeInfo> Catalog::Implementation::nodes_of(std::string_view keyspace) {
  std::vector<NodeInfo> nodes;
  for (const Row& row : session->rows("SELECT name, dsn, weight, state, zone FROM ringshard_node "
                                      "WHERE keyspace = $1 ORDER BY position",
                                      {keyspace}))
    nodes.push_back({.name = text_of(row[0]),
                     .dsn = text_of(row[1]),
                     .weight = real_of(row[2]),
                     .state = parse_node_state(text_of(row[3])),
                     .zone = text_of(row[4])});
  return nodes;
}

void Catalog::Implementation::upsert_nodes(std::string_view keyspace,
                                           const std::vector<NodeInfo>& nodes) {
  for (const NodeInfo& node : nodes) {
    const std::string_view name = node.name;
    if (node.state == NodeState::removed) {
      const std::int64_t shards = session->integer(
          "SELECT count(*) FROM ringshard_placement p JOIN ringshard_node n "
          "ON n.keyspace = p.keyspace AND n.position = p.node WHERE n.keyspace = $1 AND n.name = "
          "$2",
          {keyspace, name});
      const std::int64_t moves = session->integer(
          "SELECT count(*) FROM ringshard_move "
          "WHERE keyspace = $1 AND is_final = 0 AND (source = $2 OR target = $2)",
          {keyspace, name});
      if (shards != 0 || moves != 0)
        throw Error(ErrorCode::refused,
                    "node '" + node.name + "' still has " + std::to_string(shards) +
                        " shards and takes part in " + std::to_string(moves) +
                        " unfinished moves: set its state to draining, then plan and apply");
    }
    session->execute(
        "INSERT INTO ringshard_node (keyspace, position, name, dsn, weight, state, zone) VALUES "
        "($1, "
        "(SELECT COALESCE(MAX(position), -1) + 1 FROM ringshard_node WHERE keyspace = $1), "
        "$2, $3, $4, $5, $6) ON CONFLICT (keyspace, name) DO UPDATE SET "
        "dsn = excluded.dsn, weight = excluded.weight, state = excluded.state, zone = "
        "excluded.zone",
        {keyspace, name, std::string_view(node.dsn), node.weight, to_string(node.state),
         std::string_view(node.zone)});
  }
}

std::string Catalog::Implementation::node_of(std::string_view keyspace, ShardId shard) {
  const auto row = session->first_row(
      "SELECT n.name FROM ringshard_placement p JOIN ringshard_node n "
      "ON n.keyspace = p.keyspace AND n.position = p.node WHERE p.keyspace = $1 AND p.shard = $2",
      {keyspace, std::int64_t{shard.value}});
  if (!row)
    throw Error(ErrorCode::not_found, "keyspace '" + std::string(keyspace) + "' has no shard " +
                                          std::to_string(shard.value));
  return text_of((*row)[0]);
}

void Catalog::Implementation::place(std::string_view keyspace, ShardId shard,
                                    std::string_view node) {
  const auto position = session->first_row(
      "SELECT position FROM ringshard_node WHERE keyspace = $1 AND name = $2", {keyspace, node});
  if (!position)
    throw Error(ErrorCode::not_found,
                "keyspace '" + std::string(keyspace) + "' has no node '" + std::string(node) + "'");
  const std::int64_t changed = session->execute(
      "UPDATE ringshard_placement SET node = $3 WHERE keyspace = $1 AND shard = $2",
      {keyspace, std::int64_t{shard.value}, integer_of((*position)[0])});
  if (changed != 1)
    throw Error(ErrorCode::not_found, "keyspace '" + std::string(keyspace) + "' has no shard " +
                                          std::to_string(shard.value));
}

std::vector<NodeInfo> Catalog::nodes(std::string_view keyspace) {
  std::vector<NodeInfo> nodes;
  implementation_->read([&](Session& session) {
    static_cast<void>(require_header(session, keyspace));
    nodes = implementation_->nodes_of(keyspace);
  });
  return nodes;
}

void Catalog::store_nodes(std::string_view keyspace, const std::vector<NodeInfo>& nodes) {
  implementation_->write([&](Session& session) {
    static_cast<void>(require_header(session, keyspace));
    const auto before = implementation_->nodes_of(keyspace);
    implementation_->upsert_nodes(keyspace, nodes);
    // Routers load everything again at a new version, so it grows only if something did change.
    if (implementation_->nodes_of(keyspace) == before) return;
    implementation_->note(keyspace, "", "nodes", std::to_string(nodes.size()) + " nodes stored",
                          implementation_->raise_version(keyspace));
  });
}

}  // namespace ringshard
