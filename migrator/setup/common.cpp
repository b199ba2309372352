#include "setup/common.hpp"

#include <ringshard/error.hpp>

#include "setup/setup.hpp"

namespace ringshard {

KeyspaceDefinition to_definition(const KeyspaceConfig& keyspace) {
  KeyspaceDefinition definition;
  definition.name = keyspace.name;
  definition.key_type = KeySpec::parse(keyspace.key).to_string();
  definition.hash = parse_hash_strategy(keyspace.hash);
  definition.shard_count = keyspace.shards;
  for (const TableConfig& table : keyspace.tables) {
    TableDefinition stored;
    stored.name = table.name;
    stored.reference = table.reference;
    stored.key = table.key;
    if (table.parent) {
      stored.parent = table.parent->table;
      stored.parent_columns = table.parent->columns;
    }
    definition.tables.push_back(std::move(stored));
  }
  return definition;
}

NodeInfo to_node(const NodeConfig& node) {
  return {.name = node.name,
          .dsn = node.dsn,
          .weight = node.weight,
          .state = parse_node_state(node.state),
          .zone = node.zone};
}

namespace setup {

std::optional<Catalog> open_if_there(const std::string& dsn, Clock& clock) {
  try {
    return Catalog::open(dsn, clock);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    return std::nullopt;
  }
}

void note_obstacles(Session& session, const Dialect& dialect, Problems& problems) {
  for (const Obstacle& obstacle : dialect.obstacles(session, dialect.describe_schema(session)))
    problems.add("'" + obstacle.object + "' " + obstacle.reason);
}

void require_usable(const std::vector<NodeInfo>& nodes, const BackendOptions& options,
                    Clock& clock) {
  for (const NodeInfo& node : nodes) open_backend(node.dsn, clock, options)->check_node();
}

const NodeInfo& first_active(const std::vector<NodeInfo>& nodes) {
  for (const NodeInfo& node : nodes)
    if (node.state == NodeState::active) return node;
  throw Error(ErrorCode::refused, "no node is active: shards have nowhere to be");
}

void add_digests(Session& session, const Dialect& dialect, const HomeSchema& schema, RowForm form,
                 std::vector<Digest>& digests) {
  digests.resize(schema.tables.size());
  for (std::size_t i = 0; i < schema.tables.size(); ++i)
    digests[i] += dialect.digest(session, schema.tables[i], KeyRange{}, form);
}

}  // namespace setup
}  // namespace ringshard
