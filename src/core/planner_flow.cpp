#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/min_cost_flow.hpp"
#include "core/planner_parts.hpp"

namespace ringshard::core {

namespace {

// Shards that are alike: same home (or none that they may stay at) and same forbidden nodes.
struct Group {
  std::vector<std::uint32_t> shards;
  std::size_t supply_arc = 0;
  std::size_t stay_arc = 0;
  std::size_t hub_arc = 0;
  std::vector<std::pair<std::uint16_t, std::size_t>>
      arcs;  // to other nodes, of groups with forbidden ones
};

constexpr std::uint16_t homeless = 0xffff;

// Vertices: source, sink, hub (from where any receiving node can be reached), nodes, groups.
class PlacementNetwork {
 public:
  PlacementNetwork(const PlanProblem& problem, const std::vector<std::uint32_t>& quotas);

  std::int64_t solve() { return flow_.solve(source, sink); }
  Shift shift() const;

  bool could_take_more(std::size_t node) const { return flow_.is_reachable(first_node + node); }
  std::int64_t supply() const { return supply_; }
  std::uint32_t stranded_shard() const;

 private:
  using Key = std::pair<std::uint16_t, std::vector<std::uint16_t>>;
  static constexpr std::size_t source = 0;
  static constexpr std::size_t sink = 1;
  static constexpr std::size_t hub = 2;
  static constexpr std::size_t first_node = 3;

  static std::map<Key, Group> groups_of(const PlanProblem& problem);
  void connect(std::size_t vertex, const Key& key, Group& group);
  void place(Group group, std::uint16_t home, Shift& shift) const;

  const PlanProblem& problem_;
  std::map<Key, Group> groups_;
  MinCostFlow flow_;
  std::vector<std::size_t> hub_arcs_;  // per node
  std::int64_t supply_ = 0;
};

std::map<PlacementNetwork::Key, Group> PlacementNetwork::groups_of(const PlanProblem& problem) {
  std::map<Key, Group> groups;
  for (std::uint32_t shard = 0; shard < problem.shard_count(); ++shard) {
    if (problem.pin(shard)) continue;
    const std::uint16_t home = problem.may_stay(shard) ? problem.home(shard) : homeless;
    groups[{home, problem.forbidden(shard)}].shards.push_back(shard);
  }
  return groups;
}

PlacementNetwork::PlacementNetwork(const PlanProblem& problem,
                                   const std::vector<std::uint32_t>& quotas)
    : problem_(problem),
      groups_(groups_of(problem)),
      flow_(first_node + problem.node_count() + groups_.size()) {
  std::vector<std::int64_t> capacity(quotas.begin(), quotas.end());
  for (std::size_t shard = 0; shard < problem.shard_count(); ++shard) {
    if (const auto pin = problem.pin(shard)) --capacity[*pin];
  }
  for (std::size_t node = 0; node < problem.node_count(); ++node) {
    const std::int64_t room = problem.is_receiving(node) ? capacity[node] : 0;
    flow_.add_arc(first_node + node, sink, capacity[node], 0);
    hub_arcs_.push_back(flow_.add_arc(hub, first_node + node, room, 0));
  }
  std::size_t vertex = first_node + problem.node_count();
  for (auto& [key, group] : groups_) connect(vertex++, key, group);
}

void PlacementNetwork::connect(std::size_t vertex, const Key& key, Group& group) {
  const auto& [home, forbidden] = key;
  const auto size = static_cast<std::int64_t>(group.shards.size());
  supply_ += size;
  group.supply_arc = flow_.add_arc(source, vertex, size, 0);
  if (home != homeless) group.stay_arc = flow_.add_arc(vertex, first_node + home, size, 0);
  if (forbidden.empty()) {
    group.hub_arc = flow_.add_arc(vertex, hub, size, 1);
    return;
  }
  for (std::size_t i = 0; i < problem_.node_count(); ++i) {
    const auto node = static_cast<std::uint16_t>(i);
    if (node == home || !problem_.may_go(group.shards.front(), node)) continue;
    group.arcs.emplace_back(node, flow_.add_arc(vertex, first_node + node, size, 1));
  }
}

std::uint32_t PlacementNetwork::stranded_shard() const {
  for (const auto& [key, group] : groups_) {
    if (!flow_.is_full(group.supply_arc)) return group.shards.front();
  }
  return 0;
}

// Shards with forbidden places get their nodes here, the first ones in order those who move.
void PlacementNetwork::place(Group group, std::uint16_t home, Shift& shift) const {
  auto shard = group.shards.begin();
  for (const auto& [node, arc] : group.arcs) {
    for (std::int64_t i = 0; i < flow_.flow(arc); ++i) {
      shift.placed.push_back({ShardId{*shard++}, NodeIndex{node}});
    }
  }
  for (; shard != group.shards.end(); ++shard) {
    shift.placed.push_back({ShardId{*shard}, NodeIndex{home}});
  }
}

Shift PlacementNetwork::shift() const {
  Shift shift;
  shift.releases.resize(problem_.node_count());
  for (const auto& [key, group] : groups_) {
    const auto& [home, forbidden] = key;
    if (!forbidden.empty()) {
      place(group, home, shift);
    } else if (home != homeless) {
      shift.releases[home] = static_cast<std::uint32_t>(flow_.flow(group.hub_arc));
    }
  }
  for (const std::size_t arc : hub_arcs_) {
    shift.room.push_back(static_cast<std::uint32_t>(flow_.flow(arc)));
  }
  return shift;
}

// The next claimant by D'Hondt among those nodes that a stranded shard could be led to.
std::size_t node_to_raise(const PlanProblem& problem, const PlacementNetwork& network,
                          const std::vector<std::uint32_t>& quotas,
                          const std::vector<std::uint32_t>& caps) {
  std::size_t best = problem.node_count();
  double best_quotient = 0;
  for (std::size_t node = 0; node < problem.node_count(); ++node) {
    const double quotient = problem.weight(node) / (quotas[node] + 1.0);
    if (quotas[node] >= caps[node] || !network.could_take_more(node)) continue;
    if (quotient > best_quotient) {
      best = node;
      best_quotient = quotient;
    }
  }
  return best;
}

}  // namespace

Shift shift_by_flow(const PlanProblem& problem, std::vector<std::uint32_t> quotas,
                    const std::vector<std::uint32_t>& caps) {
  while (true) {
    PlacementNetwork network(problem, quotas);
    std::int64_t missing = network.supply() - network.solve();
    if (missing == 0) return network.shift();
    for (; missing > 0; --missing) {
      const std::size_t node = node_to_raise(problem, network, quotas, caps);
      if (node == problem.node_count()) problem.refuse_shard(network.stranded_shard());
      ++quotas[node];
    }
  }
}

}  // namespace ringshard::core
