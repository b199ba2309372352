#include "migrator/plan/planning.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <ringshard/error.hpp>
#include <utility>

#include "core/planner.hpp"
#include "core/row_hash.hpp"
#include "setup/engine_schema.hpp"
#include "setup/setup.hpp"

namespace ringshard::cli {
namespace {

/// Rows are counted for this long at most; the rest is estimated from bytes.
constexpr auto counting_time_max = std::chrono::seconds(3);

std::string random_id(std::size_t digits) {
  std::random_device device;
  std::string id;
  while (id.size() < digits) {
    const std::uint64_t high = device();
    id += core::hex16(high << 32U | device());
  }
  return id.substr(0, digits);
}

bool takes_part(const std::vector<MoveRecord>& moves, const std::string& node) {
  return std::ranges::any_of(
      moves, [&](const MoveRecord& move) { return move.source == node || move.target == node; });
}

const NodeConfig* find(const std::vector<NodeConfig>& nodes, const std::string& name) {
  const auto found = std::ranges::find(nodes, name, &NodeConfig::name);
  return found == nodes.end() ? nullptr : &*found;
}

/// A node of the catalog and of the configuration, as it is to be now.
NodeInfo updated_node(const NodeInfo& stored, const NodeConfig& wanted, std::size_t shards,
                      bool moving, std::vector<std::string>& changes) {
  NodeInfo node = to_node(wanted);
  const std::string name = "node '" + node.name + "'";
  if (node.dsn != stored.dsn) {
    if (shards > 0 || moving)
      throw Error(ErrorCode::refused,
                  name + " is in the catalog with another DSN, " + redact(stored.dsn) +
                      ", and has " + std::to_string(shards) +
                      (moving ? " shards and an unfinished move" : " shards") +
                      ": a node with shards keeps its DSN. Give the database at " +
                      redact(node.dsn) + " a new name, and drain this node");
    changes.push_back(name + " gets another DSN");
  }
  if (node.weight != stored.weight)
    changes.push_back(name + " gets weight " + describe(ValueView(node.weight)) + " instead of " +
                      describe(ValueView(stored.weight)));
  if (node.state != stored.state)
    changes.push_back(name + " becomes " + std::string(ringshard::to_string(node.state)));
  if (node.zone != stored.zone) changes.push_back(name + " gets another zone");
  return node;
}

/// A node of the catalog that the configuration does not have.
NodeInfo unlisted_node(const NodeInfo& stored, std::size_t shards, bool moving,
                       std::vector<std::string>& changes) {
  NodeInfo node = stored;
  if (stored.state == NodeState::removed) return node;
  if (shards > 0)
    throw Error(ErrorCode::refused,
                "node '" + stored.name + "' has " + std::to_string(shards) +
                    " shards and is missing in the configuration: put it back with `state: "
                    "draining`, plan and apply, and take it out when it has no shards left");
  if (moving)
    throw Error(ErrorCode::refused,
                "node '" + stored.name +
                    "' is missing in the configuration and takes part in unfinished moves: put it "
                    "back with `state: draining` until they are done (`ringshard status`)");
  node.state = NodeState::removed;
  changes.push_back("node '" + stored.name + "' is removed");
  return node;
}

/// Two names for one database would be two owners of each of its homes.
void require_distinct(const std::vector<NodeInfo>& nodes) {
  std::map<std::string, std::string> names;
  for (const NodeInfo& node : nodes) {
    if (node.state == NodeState::removed) continue;
    const auto [other, is_new] = names.emplace(node.dsn, node.name);
    if (!is_new)
      throw Error(ErrorCode::refused, "node '" + node.name + "' is already there as node '" +
                                          other->second + "': both are " + redact(node.dsn));
  }
}

std::map<std::uint32_t, std::string> eventual_places(const std::vector<MoveRecord>& unfinished) {
  std::map<std::uint32_t, std::string> places;
  for (const MoveRecord& move : unfinished) {
    const bool back = move.stage == MoveStage::reverting || move.stage == MoveStage::rolling_back ||
                      move.wish == MoveWish::abort || move.wish == MoveWish::roll_back;
    places[move.shard.value] = back ? move.source : move.target;
  }
  return places;
}

class Planning {
 public:
  Planning(OpenFleet& fleet, const PlanningOptions& options, Clock& clock)
      : fleet_(fleet), options_(options), clock_(clock) {}

  Plan run() {
    const std::string& keyspace = fleet_.keyspace.name;
    const std::vector<MoveRecord> unfinished = fleet_.catalog.moves(keyspace, true);
    plan_.id = random_id(12);
    plan_.keyspace = keyspace;
    plan_.catalog_id = fleet_.catalog.id();
    plan_.version = fleet_.topology.version();
    plan_.created_ms = clock_.unix_ms();
    plan_.by = options_.by;
    WantedNodes wanted = nodes_wanted(fleet_.config, fleet_.topology, unfinished);
    setup::require_schemas(wanted.nodes, fleet_.config.keyspace, fleet_.keyspace.schemas);
    plan_.nodes = std::move(wanted.nodes);
    plan_.changes = std::move(wanted.changes);
    plan_.shards_in_moves = unfinished.size();
    in_moves_ = eventual_places(unfinished);

    const PlacementPlan placement = plan_moves(request());
    copy_figures(placement);
    for (const ShardMove& move : placement.moves) add(move);
    estimate();
    return std::move(plan_);
  }

 private:
  NodeIndex index_of(const std::string& name) const {
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i)
      if (plan_.nodes[i].name == name) return NodeIndex{static_cast<std::uint16_t>(i)};
    throw Error(ErrorCode::not_found, "there is no node '" + name + "'");
  }

  PlanRequest request() {
    PlanRequest request;
    request.nodes = plan_.nodes;
    request.placement = fleet_.topology.placement();
    request.tolerance = options_.tolerance;
    request.moves_max = options_.moves_max;
    for (const auto& [shard, name] : in_moves_) {
      const NodeIndex node = index_of(name);
      request.placement[shard] = node.value;
      if (plan_.nodes[node.value].state == NodeState::active)
        request.pins.push_back({ShardId{shard}, node});
    }
    for (const auto& [shard, name] : fleet_.config.pins)
      if (!in_moves_.contains(shard)) request.pins.push_back({ShardId{shard}, index_of(name)});
    for (const auto& [shard, names] : fleet_.config.forbidden) {
      if (in_moves_.contains(shard)) continue;
      for (const std::string& name : names)
        request.forbidden.push_back({ShardId{shard}, index_of(name)});
    }
    if (options_.by != BalanceBy::shards) request.by = costs();
    return request;
  }

  std::vector<double> costs() {
    std::vector<double> costs;
    for (std::uint32_t shard = 0; shard < fleet_.topology.shard_count(); ++shard)
      costs.push_back(static_cast<double>(
          options_.by == BalanceBy::rows ? rows_of(ShardId{shard}) : bytes_of(ShardId{shard})));
    return costs;
  }

  void copy_figures(const PlacementPlan& placement) {
    plan_.share_moved = placement.share_moved;
    plan_.least_share = placement.least_share;
    plan_.balance_before = placement.balance_before;
    plan_.balance_after = placement.balance_after;
    plan_.moves_left_out = placement.moves_left_out;
    plan_.floor_shard = placement.floor_shard;
    plan_.balance_floor = placement.balance_floor;
  }

  void add(const ShardMove& move) {
    // One that has to leave the draining node that a move is taking it to: the next plan's matter.
    if (in_moves_.contains(move.shard.value)) {
      ++plan_.moves_left_out;
      return;
    }
    plan_.moves.push_back({.id = random_id(16),
                           .shard = move.shard,
                           .source = plan_.nodes[move.from.value].name,
                           .target = plan_.nodes[move.to.value].name});
  }

  std::int64_t bytes_of(ShardId shard) {
    return fleet_.nodes.at(fleet_.node_of(shard)).home_bytes(fleet_.home_of(shard));
  }

  std::int64_t rows_of(ShardId shard) {
    std::int64_t rows = 0;
    read_home(fleet_.nodes.at(fleet_.node_of(shard)), fleet_.home_of(shard),
              [&](HomeStore& store, const std::optional<HomeRecord>&) {
                for (const Table& table : store.dialect().describe_schema(store.session()).tables)
                  rows += store.count(table);
              });
    return rows;
  }

  void estimate() {
    const Deadline deadline = Deadline::after(clock_, counting_time_max);
    std::int64_t rows = 0;
    std::int64_t bytes = 0;
    std::vector<PlannedMove*> uncounted;
    for (PlannedMove& move : plan_.moves) {
      move.bytes = bytes_of(move.shard);
      if (deadline.passed(clock_)) {
        uncounted.push_back(&move);
        continue;
      }
      move.rows = rows_of(move.shard);
      rows += move.rows;
      bytes += move.bytes;
    }
    plan_.rows_counted = uncounted.empty();
    const double rows_per_byte =
        bytes > 0 ? static_cast<double>(rows) / static_cast<double>(bytes) : 0;
    for (PlannedMove* move : uncounted)
      move->rows = static_cast<std::int64_t>(rows_per_byte * static_cast<double>(move->bytes));
  }

  OpenFleet& fleet_;
  const PlanningOptions& options_;
  Clock& clock_;
  Plan plan_;
  std::map<std::uint32_t, std::string> in_moves_;
};

}  // namespace

WantedNodes nodes_wanted(const Config& config, const Topology& topology,
                         const std::vector<MoveRecord>& unfinished) {
  WantedNodes wanted;
  const auto join = [&wanted](const NodeConfig& node, const char* how) {
    wanted.joining.push_back(node.name);
    wanted.changes.push_back("node '" + node.name + "' " + how);
    wanted.nodes.push_back(to_node(node));
  };
  for (std::size_t i = 0; i < topology.nodes().size(); ++i) {
    const NodeInfo& stored = topology.nodes()[i];
    const NodeIndex index{static_cast<std::uint16_t>(i)};
    const NodeConfig* listed = find(config.nodes, stored.name);
    const bool removed = stored.state == NodeState::removed;
    const std::size_t shards = topology.shards_of(index).size();
    const bool moving = takes_part(unfinished, stored.name);
    if (listed != nullptr && removed)
      join(*listed, "comes back");
    else if (listed != nullptr)
      wanted.nodes.push_back(updated_node(stored, *listed, shards, moving, wanted.changes));
    else
      wanted.nodes.push_back(unlisted_node(stored, shards, moving, wanted.changes));
  }
  for (const NodeConfig& node : config.nodes)
    if (!topology.find_node(node.name)) join(node, "joins");
  require_distinct(wanted.nodes);
  return wanted;
}

Plan make_plan(OpenFleet& fleet, const PlanningOptions& options, Clock& clock) {
  return Planning(fleet, options, clock).run();
}

}  // namespace ringshard::cli
