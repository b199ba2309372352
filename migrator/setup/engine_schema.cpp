#include "setup/engine_schema.hpp"

#include <fstream>
#include <iterator>
#include <ringshard/error.hpp>
#include <utility>

#include "backend/source.hpp"
#include "setup/common.hpp"
#include "setup/schema_split.hpp"
#include "setup/setup.hpp"

namespace ringshard::setup {

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorCode::not_found,
                "the schema file " + path + " (keyspace.schema) can not be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::map<std::string, const NodeInfo*> first_of_each_engine(const std::vector<NodeInfo>& nodes) {
  std::map<std::string, const NodeInfo*> first;
  for (const NodeInfo& node : nodes) {
    if (node.state == NodeState::removed) continue;
    const NodeInfo*& found = first[std::string(engine_of(node.dsn))];
    const bool better =
        found != nullptr && found->state != NodeState::active && node.state == NodeState::active;
    if (found == nullptr || better) found = &node;
  }
  return first;
}

void require_schemas(const std::vector<NodeInfo>& nodes, const KeyspaceConfig& keyspace,
                     const Schemas& stored) {
  const auto engines = first_of_each_engine(nodes);
  if (engines.size() < 2) return;
  for (const auto& [engine, node] : engines)
    if (!keyspace.schema_for(engine) && !stored.contains(engine))
      throw Error(ErrorCode::refused,
                  "node '" + node->name + "' is a database of another kind (" + engine +
                      ") than others, and it is not known what homes are made of there: write "
                      "keyspace.schema: {" +
                      engine + ": FILE}");
}

KeyspaceSchema read_schema(const KeyspaceConfig& keyspace, const NodeInfo& node,
                           const BackendOptions& options, Clock& clock) {
  const std::string engine(engine_of(node.dsn));
  const auto path = keyspace.schema_for(engine);
  if (!path)
    throw Error(ErrorCode::refused, "keyspace.schema names no file for " + engine +
                                        ", which node '" + node.name + "' is");
  const std::string text = read_file(*path);
  const auto backend = open_backend(node.dsn, clock, options);
  ScratchHomes scratch(*backend, keyspace.name);
  try {
    scratch.make(scratch.whole(), {text});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::sql && error.code() != ErrorCode::constraint) throw;
    throw Error(ErrorCode::schema, "the schema file " + *path + " is wrong: " + error.what());
  }
  Problems problems;
  const std::string headline = "the schema file " + *path + " can not be used:";
  const Division division(KeySpec::parse(keyspace.key), to_definition(keyspace).tables);
  SourceDatabase whole{backend->connect(scratch.whole(), SessionUse::maintenance),
                       backend->dialect(), schema_parts_of(node.dsn)};
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
  return {std::move(split.home), std::move(split.reference)};
}

}  // namespace ringshard::setup
