#include "migrator/mover/move_world.hpp"

#include <algorithm>
#include <atomic>

#include "backend/home_store.hpp"
#include "support/clock.hpp"

namespace ringshard::testing {

MoveWorld::MoveWorld(const Side& source, const Side& target)
    : home_{"shop", shard},
      engines_{{"source", source.engine}, {"target", target.engine}, {"catalog", source.engine}} {
  if (!source.dsn.empty()) dsns_["source"] = source.dsn;
  if (!target.dsn.empty()) dsns_["target"] = target.dsn;
  for (const auto& [name, engine] : engines_)
    if (engine != Engine::sqlite && !dsns_.contains(name))
      databases_.emplace(name, std::make_unique<TestDatabase>());
  options.chunk_rows = 3;
  options.tail_rows = 4;
  options.lease = std::chrono::seconds(60);
  options.observe_for = std::chrono::hours(1);
  options.lock_wait = std::chrono::seconds(20);
  options.cutover.pause_budget = std::chrono::seconds(5);
  options.cutover.lock_timeout = std::chrono::milliseconds(500);
  options.cutover.retry_delay = std::chrono::milliseconds(2);

  std::vector<NodeInfo> nodes;
  for (const char* name : {"source", "target"}) {
    nodes.push_back(
        {.name = name, .dsn = dsn(name), .weight = 1, .state = NodeState::active, .zone = ""});
    backends_.emplace(name, open_backend(dsn(name), system_clock()));
    backends_.find(name)->second->prepare_node();
  }
  HomeSchema schema;
  schema.statements.emplace_back(source.schema_sql);
  HomeRecord at_rest;
  at_rest.keyspace = home_.keyspace;
  at_rest.shard = shard;
  backend("source").create_home(home_, at_rest, schema);
  {
    const auto session = backend("source").connect(home_, SessionUse::maintenance);
    SessionTransaction tx(*session, home_, TxMode::read, Deadline());
    schema = backend("source").dialect().describe_schema(*session);
  }

  KeyspaceDefinition definition;
  definition.name = home_.keyspace;
  definition.key_type = "int64";
  definition.shard_count = 1;
  definition.state = KeyspaceState::ready;
  definition.schemas[std::string(backend("target").dialect().engine())].home.statements = {
      std::string(target.schema_sql)};
  definition.schemas[std::string(backend("source").dialect().engine())].home = schema;
  for (const Table& table : schema.tables) {
    TableDefinition divided;
    divided.name = table.name;
    if (!table.key.empty()) divided.key = {table.key[0]};
    definition.tables.push_back(divided);
  }
  Catalog catalog = Catalog::create(catalog_dsn(), system_clock());
  catalog.create_keyspace(definition, nodes, {0});
  MoveRecord move;
  move.id = "m1";
  move.plan_id = "p1";
  move.keyspace = home_.keyspace;
  move.shard = shard;
  move.source = "source";
  move.target = "target";
  catalog.start_plan(home_.keyspace, "p1", catalog.version(home_.keyspace), nodes, {move});
}

std::string MoveWorld::dsn(std::string_view node) const {
  if (const auto given = dsns_.find(node); given != dsns_.end()) return given->second;
  const auto database = databases_.find(node);
  if (database == databases_.end()) return "sqlite:" + (folder_ / node).string();
  return engines_.find(node)->second == Engine::pgbouncer ? database->second->pooled_dsn()
                                                          : database->second->dsn();
}

std::string MoveWorld::catalog_dsn() const {
  return engines_.find("catalog")->second == Engine::sqlite
             ? "sqlite:" + (folder_ / "catalog.db").string()
             : dsn("catalog");
}

Config MoveWorld::config() const {
  Config config;
  config.catalog = catalog_dsn();
  config.keyspace.name = home_.keyspace;
  config.keyspace.key = "int64";
  config.keyspace.shards = 1;
  for (const char* name : {"source", "target"}) {
    NodeConfig node;
    node.name = name;
    node.dsn = dsn(name);
    config.nodes.push_back(node);
  }
  config.router.poll_interval = std::chrono::milliseconds(50);
  return config;
}

void MoveWorld::write_config(std::string_view pause_budget) const {
  std::string text =
      "catalog: " + config().catalog + "\nkeyspace: {name: shop, key: int64, shards: 1, tables: [";
  const auto tables = catalog().keyspace(home_.keyspace)->tables;
  for (const TableDefinition& table : tables) {
    text += "{name: '" + table.name + "', ";
    if (table.parent.empty())
      text += "key: '" + table.key[0] + "'}, ";
    else
      text += "parent: {table: '" + table.parent + "', columns: {'" +
              table.parent_columns[0].first + "': '" + table.parent_columns[0].second + "'}}}, ";
  }
  text += "]}\nnodes:\n";
  for (const char* name : {"source", "target"})
    text += "  - {name: " + std::string(name) + ", dsn: '" + dsn(name) + "'}\n";
  text +=
      "router: {poll_interval: 50ms}\n"
      "move: {chunk_rows: 3, observe_for: 1h, cutover: {lock_timeout: 100ms, retry_delay: 5ms, "
      "pause_budget: " +
      std::string(pause_budget) + "}}\n";
  folder_.write("ringshard.yaml", text);
}

void MoveWorld::expire_lease() {
  const std::optional<MoveRecord> move = catalog().move("m1");
  if (!move->lease_holder.empty()) catalog().release_lease("m1", move->lease_holder);
}

Catalog MoveWorld::catalog() const { return Catalog::open(catalog_dsn(), system_clock()); }

MoveRecord MoveWorld::record() const { return *catalog().move("m1"); }

MoveRecord MoveWorld::run() {
  Catalog own = catalog();
  Nodes nodes(own.topology(home_.keyspace).nodes(), system_clock(), {});
  MoveObserver observer;
  return Mover(own, nodes, options, observer).run("m1");
}

VerifyReport MoveWorld::verify() {
  Catalog own = catalog();
  Nodes nodes(own.topology(home_.keyspace).nodes(), system_clock(), {});
  MoveObserver observer;
  return Mover(own, nodes, options, observer).verify("m1");
}

MoveRecord MoveWorld::wish_and_run(MoveWish wish) {
  catalog().wish("m1", wish);
  return run();
}

void MoveWorld::script(std::string_view statements, std::string_view node, SessionUse use) {
  const auto session = backend(node).connect(home_, use);
  SessionTransaction tx(*session, home_, TxMode::write,
                        Deadline::after(system_clock(), std::chrono::seconds(10)));
  session->run_script(statements);
  tx.commit();
}

void MoveWorld::sql(std::string_view statements, std::string_view node) {
  script(statements, node, SessionUse::application);
}

void MoveWorld::damage(std::string_view statements, std::string_view node) {
  script(statements, node, SessionUse::maintenance);
}

Backend& MoveWorld::backend(std::string_view node) { return *backends_.find(node)->second; }

std::optional<HomeRecord> MoveWorld::home_record(std::string_view node) {
  if (!backend(node).home_exists(home_)) return std::nullopt;
  const auto session = backend(node).connect(home_, SessionUse::maintenance);
  SessionTransaction tx(*session, home_, TxMode::read, Deadline());
  return tx.record();
}

std::vector<Row> MoveWorld::rows(std::string_view query, std::string_view node) {
  const auto session = backend(node).connect(home_, SessionUse::maintenance);
  SessionTransaction tx(*session, home_, TxMode::read, Deadline());
  return session->rows(query);
}

std::map<std::string, std::vector<std::string>> MoveWorld::content(std::string_view node) {
  const auto session = backend(node).connect(home_, SessionUse::maintenance);
  SessionTransaction tx(*session, home_, TxMode::read, Deadline());
  std::map<std::string, std::vector<std::string>> content;
  for (const Table& table : backend(node).dialect().describe_schema(*session).tables) {
    std::vector<std::string>& rows = content[table.name];
    session->for_each("SELECT " + quoted_list(table.columns) + " FROM " + quoted(table.name), {},
                      [&](RowView row) {
                        rows.push_back(encode_row(row));
                        return true;
                      });
    std::sort(rows.begin(), rows.end());
  }
  return content;
}

bool MoveWorld::has_capture(std::string_view node) {
  const auto session = backend(node).connect(home_, SessionUse::maintenance);
  SessionTransaction tx(*session, home_, TxMode::read, Deadline());
  return backend(node).dialect().has_capture(*session);
}

AtPoint::AtPoint(FaultPoint point, std::function<void()> action, int nth)
    : reached_(std::make_shared<std::atomic<bool>>(false)) {
  auto seen = std::make_shared<std::atomic<int>>(0);
  fault::set_handler([=, reached = reached_, action = std::move(action)](FaultPoint at) {
    if (at != point || ++*seen != nth) return;
    reached->store(true);
    action();
  });
}

}  // namespace ringshard::testing
