#include "support/fleet.hpp"

#include <array>
#include <ringshard/error.hpp>
#include <ringshard/hash.hpp>
#include <stdexcept>
#include <utility>

#include "backend/row_batch.hpp"

namespace ringshard::testing {

namespace {

std::vector<std::uint16_t> spread(const RouterFleetOptions& options) {
  std::vector<std::uint16_t> placement;
  for (std::uint32_t shard = 0; shard < options.shards; ++shard) {
    placement.push_back(static_cast<std::uint16_t>(shard % options.nodes));
  }
  return placement;
}

std::string text_of(const RouterFleetOptions& options, const std::string& catalog,
                    const std::vector<NodeInfo>& nodes) {
  std::string text = "catalog: \"" + catalog + "\"\nkeyspace:\n  name: shop\n  key: int64\n" +
                     "  shards: " + std::to_string(options.shards) +
                     "\n  tables:\n    - {name: item, key: customer}\nnodes:\n";
  for (const NodeInfo& node : nodes) {
    text += "  - {name: " + node.name + ", dsn: \"" + node.dsn + "\"}\n";
  }
  return text + "router: {" + options.router + "}\nmove: {" + options.move +
         "}\nsqlite: {synchronous: " + options.synchronous + "}\n";
}

}  // namespace

RouterFleet::RouterFleet(const RouterFleetOptions& options) {
  catalog_dsn = "sqlite:" + (folder / "catalog.db").string();
  keyspace.name = "shop";
  keyspace.key_type = "int64";
  keyspace.shard_count = options.shards;
  keyspace.state = KeyspaceState::ready;
  TableDefinition item;
  item.name = "item";
  item.key = {"customer"};
  keyspace.tables = {item};
  keyspace.schemas["sqlite"].home.statements = options.statements;
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    NodeInfo node;
    node.name = std::string(1, static_cast<char>('a' + i));
    node.dsn = "sqlite:" + (folder / node.name).string();
    auto backend = open_backend(node.dsn, clock);
    backend->prepare_node();
    backends_.emplace(node.name, std::move(backend));
    nodes.push_back(std::move(node));
  }
  const auto placement = spread(options);
  for (std::uint32_t shard = 0; shard < options.shards; ++shard) {
    HomeRecord record;
    record.keyspace = keyspace.name;
    record.shard = ShardId{shard};
    backend(nodes[placement[shard]].name)
        .create_home(home(record.shard), record, keyspace.schemas["sqlite"].home);
  }
  Catalog::create(catalog_dsn, clock).create_keyspace(keyspace, nodes, placement);
  config_text = text_of(options, catalog_dsn, nodes);
  config_path = folder.write("ringshard.yaml", config_text);
  config = load_config(config_path);
}

std::filesystem::path RouterFleet::home_file(const std::string& node, ShardId shard) const {
  return folder / node / (home(shard).str() + ".db");
}

void RouterFleet::in_home(const std::string& node, ShardId shard, TxMode mode,
                          const std::function<void(HomeStore&, HomeRecord&)>& work) const {
  Backend& backend = *backends_.at(node);
  const auto session = backend.connect(home(shard), SessionUse::maintenance);
  HomeStore store(*session, backend.dialect());
  SessionTransaction tx(*session, home(shard), mode,
                        Deadline::after(clock, std::chrono::seconds(30)));
  if (!tx.record()) throw std::runtime_error("no home of shard on node " + node);
  HomeRecord record = *tx.record();
  work(store, record);
  tx.commit();
}

HomeRecord RouterFleet::record(const std::string& node, ShardId shard) const {
  HomeRecord found;
  in_home(node, shard, TxMode::read, [&](HomeStore&, HomeRecord& record) { found = record; });
  return found;
}

std::int64_t RouterFleet::log_rows(const std::string& node, ShardId shard) const {
  std::int64_t rows = 0;
  in_home(node, shard, TxMode::read,
          [&](HomeStore& store, HomeRecord&) { rows = store.log_rows(); });
  return rows;
}

std::int64_t RouterFleet::integer(const std::string& node, ShardId shard,
                                  std::string_view sql) const {
  std::int64_t value = 0;
  in_home(node, shard, TxMode::read,
          [&](HomeStore& store, HomeRecord&) { value = store.session().integer(sql); });
  return value;
}

std::int64_t RouterFleet::key_of(ShardId shard, int n) const {
  std::int64_t key = 0;
  while (n > 0) {
    ++key;
    if (shard_of(HashStrategy::xxh3, Key(key), keyspace.shard_count) == shard) --n;
  }
  return key;
}

std::string RouterFleet::begin_move(ShardId shard, const std::string& source,
                                    const std::string& target) {
  const std::string id = "move-" + std::to_string(++moves_);
  HomeRecord mirror;
  mirror.keyspace = keyspace.name;
  mirror.shard = shard;
  mirror.role = Role::mirror;
  mirror.leg = 1;
  mirror.peer = source;
  mirror.move_id = id;
  backend(target).create_home(home(shard), mirror, keyspace.schemas["sqlite"].home);
  const auto capture = [&](HomeStore& store) {
    store.dialect().install_capture(store.session(),
                                    store.dialect().describe_schema(store.session()));
  };
  in_home(target, shard, TxMode::exclusive, [&](HomeStore& store, HomeRecord&) { capture(store); });
  in_home(source, shard, TxMode::exclusive, [&](HomeStore& store, HomeRecord& record) {
    capture(store);
    record.leg = 1;
    record.peer = target;
    record.move_id = id;
    store.store_record(record);
  });
  in_home(source, shard, TxMode::read, [&](HomeStore& from, HomeRecord&) {
    in_home(target, shard, TxMode::write, [&](HomeStore& to, HomeRecord&) {
      for (const Table& table : from.dialect().describe_schema(from.session()).tables) {
        RowBatch rows;
        if (!from.read_chunk(table, std::nullopt, 1'000'000, std::size_t{1} << 30, rows)) {
          throw std::runtime_error("a test's table is too large");
        }
        to.insert_missing(table, rows);
      }
    });
  });
  return id;
}

void RouterFleet::decide(ShardId shard, const std::string& from, const std::string& to) const {
  in_home(from, shard, TxMode::exclusive, [&](HomeStore& source, HomeRecord& record) {
    const std::vector<Change> log = source.log_after(0, 1'000'000);
    const std::vector<RowChange> changes = source.rows_of(log);
    in_home(to, shard, TxMode::write,
            [&](HomeStore& target, HomeRecord&) { target.apply(changes, UniqueConflict::evict); });
    std::vector<std::int64_t> seqs;
    for (const Change& change : log) seqs.push_back(change.seq);
    source.log_erase(seqs);
    record.role = Role::mirror;
    record.leg += 1;
    record.peer = to;
    source.store_record(record);
  });
}

bool RouterFleet::promote(ShardId shard, const std::string& from, const std::string& to) const {
  const HomeRecord decided = record(from, shard);
  bool promoted = false;
  in_home(to, shard, TxMode::exclusive,
          [&](HomeStore& store, HomeRecord&) { promoted = store.promote(decided, from); });
  return promoted;
}

void RouterFleet::end_move(ShardId shard, const std::string& owner, const std::string& other) {
  in_home(owner, shard, TxMode::exclusive, [&](HomeStore& store, HomeRecord& record) {
    if (record.role != Role::owner) throw std::runtime_error(owner + " is not the owner");
    store.dialect().remove_capture(store.session(), std::numeric_limits<std::int64_t>::max());
    record.leg = 0;
    record.peer.clear();
    record.move_id.clear();
    store.store_record(record);
  });
  backend(other).drop_home(home(shard));
}

void RouterFleet::place(ShardId shard, const std::string& node) {
  Catalog catalog = this->catalog();
  const Topology topology = catalog.topology(keyspace.name);
  MoveRecord move;
  move.id = "place-" + std::to_string(++moves_);
  move.plan_id = move.id;
  move.keyspace = keyspace.name;
  move.shard = shard;
  move.source = topology.node(topology.node_of(shard)).name;
  move.target = node;
  catalog.start_plan(keyspace.name, move.plan_id, topology.version(), topology.nodes(), {move});
  if (!catalog.take_lease(move.id, "test", std::chrono::seconds(60))) {
    throw std::runtime_error("no lease");
  }
  constexpr std::array stages{MoveStage::mirroring, MoveStage::backfilling, MoveStage::verifying,
                              MoveStage::ready,     MoveStage::cut_over,    MoveStage::observing,
                              MoveStage::cleaning,  MoveStage::done};
  for (const MoveStage stage : stages) {
    const MoveStage before = move.stage;
    move.stage = stage;
    catalog.store_stage(
        move, before, "test",
        stage == MoveStage::observing ? std::optional<std::string>(node) : std::nullopt);
  }
  catalog.release_lease(move.id, "test");
}

void Gate::open() {
  std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return open_; });
}

}  // namespace ringshard::testing
