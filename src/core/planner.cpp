#include "core/planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <ringshard/error.hpp>
#include <utility>

#include "core/planner_parts.hpp"

namespace ringshard {

namespace {

using core::Apportionment;
using core::PlanProblem;
using core::PlanRing;
using core::Shift;

std::vector<double> active_weights(const std::vector<NodeInfo>& nodes) {
  std::vector<double> weights;
  for (const NodeInfo& node : nodes) {
    weights.push_back(node.state == NodeState::active ? node.weight : 0.0);
  }
  return weights;
}

// An ordinary shard is one whose node is open: neither pinned nor with forbidden places.
bool is_ordinary(const PlanProblem& problem, std::size_t shard) {
  return !problem.pin(shard) && problem.forbidden(shard).empty();
}

Apportionment apportionment_of(const PlanProblem& problem) {
  const std::size_t nodes = problem.node_count();
  Apportionment result{.weights = active_weights(problem.request().nodes),
                       .floors = std::vector<std::uint32_t>(nodes, 0),
                       .caps = std::vector<std::uint32_t>(nodes, 0),
                       .keeps = std::vector<std::uint32_t>(nodes, 0),
                       .shard_count = problem.shard_count()};
  for (std::size_t shard = 0; shard < problem.shard_count(); ++shard) {
    if (const auto pin = problem.pin(shard)) {
      ++result.floors[*pin];
      ++result.keeps[*pin];
    } else if (problem.may_stay(shard)) {
      ++result.keeps[problem.home(shard)];
    }
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    if (!problem.is_active(node)) continue;
    result.caps[node] = problem.is_receiving(node) ? problem.shard_count() : result.keeps[node];
  }
  return result;
}

// Without forbidden places the fewest moves are simply what is above the quotas.
Shift shift_by_counting(const PlanProblem& problem, const Apportionment& limits,
                        const std::vector<std::uint32_t>& quotas) {
  Shift shift;
  for (std::size_t node = 0; node < problem.node_count(); ++node) {
    const std::uint32_t keeps = limits.keeps[node];
    shift.releases.push_back(keeps > quotas[node] ? keeps - quotas[node] : 0);
    shift.room.push_back(quotas[node] > keeps ? quotas[node] - keeps : 0);
  }
  return shift;
}

// Decides which shards are the ones that a Shift counts, and where each of them goes.
class ShiftPlacer {
 public:
  ShiftPlacer(const PlanProblem& problem, Shift shift)
      : problem_(problem),
        ring_(problem.request().nodes, active_weights(problem.request().nodes)),
        releases_(std::move(shift.releases)),
        placement_(problem.request().placement),
        moved_(problem.shard_count(), false) {
    ring_.set_room(std::move(shift.room));
    for (std::size_t shard = 0; shard < problem.shard_count(); ++shard) {
      if (const auto pin = problem.pin(shard)) placement_[shard] = *pin;
    }
    for (const auto& [shard, node] : shift.placed) placement_[shard.value] = node.value;
  }

  std::vector<std::uint16_t> run() {
    for_each_candidate([this](std::size_t shard) { give_to_ring_owner(shard); });
    for_each_candidate([this](std::size_t shard) {
      // What the ring gives to its present node stays there if others can go instead.
      if (ring_.owner(shard) != problem_.home(shard)) give_clockwise(shard);
    });
    for_each_candidate([this](std::size_t shard) { give_clockwise(shard); });
    return std::move(placement_);
  }

 private:
  bool must_leave(std::size_t shard) const { return !problem_.may_stay(shard); }

  template <class Action>
  void for_each_candidate(Action action) {
    for (std::size_t shard = 0; shard < problem_.shard_count(); ++shard) {
      if (moved_[shard] || !is_ordinary(problem_, shard)) continue;
      if (must_leave(shard) || releases_[problem_.home(shard)] > 0) action(shard);
    }
  }

  void give_to_ring_owner(std::size_t shard) {
    const std::uint16_t owner = ring_.owner(shard);
    if (owner == problem_.home(shard) || !ring_.has_room(owner)) return;
    ring_.take_at(owner);
    set(shard, owner);
  }

  void give_clockwise(std::size_t shard) { set(shard, ring_.take(shard)); }

  void set(std::size_t shard, std::uint16_t node) {
    if (!must_leave(shard)) --releases_[problem_.home(shard)];
    moved_[shard] = true;
    placement_[shard] = node;
  }

  const PlanProblem& problem_;
  PlanRing ring_;
  std::vector<std::uint32_t> releases_;
  std::vector<std::uint16_t> placement_;
  std::vector<bool> moved_;
};

// Those first who may not stay where they are; then always one from the node that is most over.
std::vector<ShardMove> ordered_moves(const PlanProblem& problem,
                                     const std::vector<std::uint16_t>& placement,
                                     const std::vector<std::uint32_t>& keeps) {
  std::vector<ShardMove> moves;
  std::vector<std::vector<ShardMove>> optional_of(problem.node_count());
  for (std::uint32_t shard = 0; shard < problem.shard_count(); ++shard) {
    if (placement[shard] == problem.home(shard)) continue;
    const ShardMove move{ShardId{shard}, NodeIndex{problem.home(shard)},
                         NodeIndex{placement[shard]}};
    (problem.may_stay(shard) ? optional_of[move.from.value] : moves).push_back(move);
  }
  std::priority_queue<std::pair<double, std::size_t>> most;
  std::vector<std::uint32_t> counts = keeps;
  const auto queue = [&](std::size_t node) {
    if (optional_of[node].empty()) return;
    most.push({counts[node] / problem.weight(node), node});
  };
  for (std::size_t node = 0; node < problem.node_count(); ++node) {
    std::ranges::reverse(optional_of[node]);
    queue(node);
  }
  while (!most.empty()) {
    const std::size_t node = most.top().second;
    most.pop();
    moves.push_back(optional_of[node].back());
    optional_of[node].pop_back();
    --counts[node];
    queue(node);
  }
  return moves;
}

double cost_sum(const PlanProblem& problem) {
  double sum = 0;
  for (std::size_t shard = 0; shard < problem.shard_count(); ++shard) sum += problem.cost(shard);
  return sum;
}

double weight_sum(const PlanProblem& problem) {
  double sum = 0;
  for (std::size_t node = 0; node < problem.node_count(); ++node) sum += problem.weight(node);
  return sum;
}

double balance_of(const PlanProblem& problem, const std::vector<std::uint16_t>& placement) {
  std::vector<double> loads(problem.node_count(), 0);
  for (std::size_t shard = 0; shard < placement.size(); ++shard) {
    loads[placement[shard]] += problem.cost(shard);
  }
  const double mean = cost_sum(problem) / weight_sum(problem);
  double most = 0;
  for (std::size_t node = 0; node < loads.size(); ++node) {
    if (problem.is_active(node)) most = std::max(most, loads[node] / problem.weight(node));
  }
  return mean > 0 ? most / mean : 1.0;
}

// The cost that no plan can leave where it is.
double least_cost_moved(const PlanProblem& problem) {
  const double band = 1 + std::max(problem.request().tolerance, core::cost_tolerance_min);
  const double due_per_weight = cost_sum(problem) / weight_sum(problem);
  std::vector<double> stays(problem.node_count(), 0);
  double least = 0;
  for (std::size_t shard = 0; shard < problem.shard_count(); ++shard) {
    (problem.may_stay(shard) ? stays[problem.home(shard)] : least) += problem.cost(shard);
  }
  for (std::size_t node = 0; node < stays.size(); ++node) {
    least += std::max(0.0, stays[node] - due_per_weight * problem.weight(node) * band);
  }
  return least;
}

void find_floor(const PlanProblem& problem, PlacementPlan& plan) {
  const auto& by = problem.request().by;
  const auto largest = std::ranges::max_element(by);
  double weight_max = 0;
  for (std::size_t node = 0; node < problem.node_count(); ++node) {
    weight_max = std::max(weight_max, problem.weight(node));
  }
  const double mean = cost_sum(problem) / weight_sum(problem);
  if (!(mean > 0) || *largest / weight_max <= mean) return;
  plan.floor_shard = ShardId{static_cast<std::uint32_t>(largest - by.begin())};
  plan.balance_floor = *largest / weight_max / mean;
}

void plan_by_count(const PlanProblem& problem, PlacementPlan& plan) {
  const Apportionment limits = apportionment_of(problem);
  std::vector<std::uint32_t> quotas = core::apportion(limits);
  const double tolerance = problem.request().tolerance;
  if (tolerance > 0) quotas = core::relax(limits, quotas, tolerance);

  bool forbidden = false;
  std::uint64_t least = 0;
  for (std::size_t shard = 0; shard < problem.shard_count(); ++shard) {
    forbidden = forbidden || (!problem.pin(shard) && !problem.forbidden(shard).empty());
    if (!problem.may_stay(shard)) ++least;
  }
  Shift shift = shift_by_counting(problem, limits, quotas);
  least = std::accumulate(shift.releases.begin(), shift.releases.end(), least);
  plan.least_share = static_cast<double>(least) / problem.shard_count();

  if (forbidden) shift = core::shift_by_flow(problem, quotas, limits.caps);
  plan.placement = ShiftPlacer(problem, std::move(shift)).run();
  plan.moves = ordered_moves(problem, plan.placement, limits.keeps);
  const std::size_t moves_max = problem.request().moves_max.value_or(plan.moves.size());
  if (plan.moves.size() > moves_max) {
    plan.moves_left_out = plan.moves.size() - moves_max;
    plan.moves.resize(moves_max);
  }
}

void plan_by_cost(const PlanProblem& problem, PlacementPlan& plan) {
  const std::size_t moves_max = problem.request().moves_max.value_or(problem.shard_count());
  plan.moves = core::moves_by_cost(problem, moves_max, plan.moves_left_out);
  const double total = cost_sum(problem);
  plan.least_share = total > 0 ? least_cost_moved(problem) / total : 0;
  find_floor(problem, plan);
}

}  // namespace

std::vector<std::uint16_t> initial_placement(const std::vector<NodeInfo>& nodes,
                                             std::uint32_t shard_count) {
  if (nodes.size() > std::numeric_limits<std::uint16_t>::max() || shard_count < 1 ||
      shard_count > shard_count_max) {
    throw Error(ErrorCode::invalid_argument,
                "can not place " + std::to_string(shard_count) + " shards on " +
                    std::to_string(nodes.size()) + " nodes: there may be 1 … " +
                    std::to_string(shard_count_max) + " shards and up to 65535 nodes");
  }
  const std::vector<double> weights = active_weights(nodes);
  if (std::ranges::none_of(nodes,
                           [](const NodeInfo& node) { return node.state == NodeState::active; })) {
    throw Error(ErrorCode::refused,
                "no node is active, so there is nowhere to place shards: add a node");
  }
  std::vector<std::uint32_t> room = quotas(weights, shard_count);
  PlanRing ring(nodes, weights);
  ring.set_room(std::move(room));
  std::vector<std::uint16_t> placement;
  placement.reserve(shard_count);
  for (std::uint32_t shard = 0; shard < shard_count; ++shard) placement.push_back(ring.take(shard));
  return placement;
}

PlacementPlan plan_moves(const PlanRequest& request) {
  const PlanProblem problem(request);
  PlacementPlan plan;
  if (request.by.empty()) {
    plan_by_count(problem, plan);
  } else {
    plan_by_cost(problem, plan);
  }
  plan.placement = request.placement;
  double moved = 0;
  for (const ShardMove& move : plan.moves) {
    plan.placement[move.shard.value] = move.to.value;
    moved += problem.cost(move.shard.value);
  }
  const double total = cost_sum(problem);
  plan.share_moved = total > 0 ? moved / total : 0;
  plan.balance_before = balance_of(problem, request.placement);
  plan.balance_after = balance_of(problem, plan.placement);
  return plan;
}

}  // namespace ringshard
