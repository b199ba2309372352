#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <utility>

#include "core/planner_parts.hpp"

namespace ringshard::core {

namespace {

// Moves shards one by one from the node with the most cost for its weight.
class CostBalancer {
 public:
  CostBalancer(const PlanProblem& problem, std::size_t moves_max)
      : problem_(problem), moves_max_(moves_max), loads_(problem.node_count(), 0) {}

  std::vector<ShardMove> run(std::size_t& left_out) {
    std::vector<std::uint32_t> homeless = read_loads();
    left_out = place(homeless);
    mean_ = mean();
    while (moves_.size() < moves_max_ && improve()) {
    }
    return std::move(moves_);
  }

 private:
  double ratio(std::size_t node, double change = 0) const {
    return (loads_[node] + change) / problem_.weight(node);
  }

  // Loads of what stays, and those who can not. Pinned shards first: they have no choice.
  std::vector<std::uint32_t> read_loads() {
    shards_.resize(problem_.node_count());
    std::vector<std::uint32_t> homeless;
    for (std::uint32_t shard = 0; shard < problem_.shard_count(); ++shard) {
      if (!problem_.may_stay(shard)) {
        homeless.push_back(shard);
        continue;
      }
      loads_[problem_.home(shard)] += problem_.cost(shard);
      if (!problem_.pin(shard)) shards_[problem_.home(shard)].push_back(shard);
    }
    for (auto& shards : shards_) sort_by_cost(shards);
    std::ranges::stable_sort(homeless, [this](std::uint32_t left, std::uint32_t right) {
      const bool left_pinned = problem_.pin(left).has_value();
      const bool right_pinned = problem_.pin(right).has_value();
      if (left_pinned != right_pinned) return left_pinned;
      return problem_.cost(left) > problem_.cost(right);
    });
    return homeless;
  }

  void sort_by_cost(std::vector<std::uint32_t>& shards) const {
    std::ranges::stable_sort(shards, {}, [this](std::uint32_t s) { return problem_.cost(s); });
  }

  // The longest first, each to the node that is least loaded with it (R. Graham's LPT rule, 1969).
  std::size_t place(const std::vector<std::uint32_t>& homeless) {
    std::size_t left_out = 0;
    for (const std::uint32_t shard : homeless) {
      const std::size_t node = least_loaded_with(shard);
      if (node == problem_.node_count()) problem_.refuse_shard(shard);
      if (moves_.size() < moves_max_) {
        move(shard, problem_.home(shard), node);
      } else {
        ++left_out;
        loads_[node] += problem_.cost(shard);
      }
    }
    return left_out;
  }

  std::size_t least_loaded_with(std::uint32_t shard) const {
    std::size_t best = problem_.node_count();
    for (std::size_t node = 0; node < problem_.node_count(); ++node) {
      if (!problem_.may_go(shard, static_cast<std::uint16_t>(node))) continue;
      if (best == problem_.node_count() ||
          ratio(node, problem_.cost(shard)) < ratio(best, problem_.cost(shard))) {
        best = node;
      }
    }
    return best;
  }

  // One move that makes the most loaded node less so; false if it is even enough or there is none.
  bool improve() {
    const std::size_t from = most_loaded();
    if (ratio(from) <= mean_ * (1 + std::max(problem_.request().tolerance, cost_tolerance_min))) {
      return false;
    }
    // A heap, because nearly always the least loaded node of all is the one.
    for (auto nodes = receiving_by_load(); !nodes.empty(); nodes.pop()) {
      const std::size_t to = nodes.top().second;
      if (to == from) continue;
      if (ratio(to) >= ratio(from)) return false;
      const auto shard = best_shard(from, to);
      if (shard == shards_[from].end()) continue;
      const std::uint32_t moved = *shard;
      shards_[from].erase(shard);
      loads_[from] -= problem_.cost(moved);
      move(moved, from, to);
      return true;
    }
    return false;
  }

  double mean() const {
    double load_sum = 0;
    double weight_sum = 0;
    for (std::size_t node = 0; node < problem_.node_count(); ++node) {
      load_sum += loads_[node];
      weight_sum += problem_.weight(node);
    }
    return load_sum / weight_sum;
  }

  std::size_t most_loaded() const {
    std::size_t most = problem_.node_count();
    for (std::size_t node = 0; node < problem_.node_count(); ++node) {
      if (!problem_.is_active(node)) continue;
      if (most == problem_.node_count() || ratio(node) > ratio(most)) most = node;
    }
    return most;
  }

  using Ranked = std::pair<double, std::size_t>;
  using LeastFirst = std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>>;

  LeastFirst receiving_by_load() const {
    std::vector<Ranked> nodes;
    for (std::size_t node = 0; node < problem_.node_count(); ++node) {
      if (problem_.is_receiving(node)) nodes.emplace_back(ratio(node), node);
    }
    return LeastFirst(std::greater<>(), std::move(nodes));
  }

  // The shard after whose move the higher of both nodes is lowest, and lower than before.
  std::vector<std::uint32_t>::iterator best_shard(std::size_t from, std::size_t to) {
    const double from_weight = problem_.weight(from);
    const double to_weight = problem_.weight(to);
    const double ideal =
        (loads_[from] * to_weight - loads_[to] * from_weight) / (from_weight + to_weight);
    auto& shards = shards_[from];
    const auto movable = [&](std::uint32_t shard) {
      return problem_.cost(shard) > 0 && problem_.may_go(shard, static_cast<std::uint16_t>(to));
    };
    const auto result = [&](std::uint32_t shard) {
      return std::max(ratio(from, -problem_.cost(shard)), ratio(to, problem_.cost(shard)));
    };
    // Sorted by cost: the nearest that may go on either side of the ideal are the only candidates.
    const auto middle = std::ranges::lower_bound(
        shards, ideal, {}, [this](std::uint32_t shard) { return problem_.cost(shard); });
    auto best = std::find_if(middle, shards.end(), movable);
    const auto below = std::find_if(std::make_reverse_iterator(middle), shards.rend(), movable);
    if (below != shards.rend() && (best == shards.end() || result(*below) <= result(*best))) {
      best = std::prev(below.base());
    }
    if (best != shards.end() && result(*best) >= ratio(from)) return shards.end();
    return best;
  }

  // A shard that was moved once is not moved again, so every move of the plan is final.
  void move(std::uint32_t shard, std::size_t from, std::size_t to) {
    loads_[to] += problem_.cost(shard);
    moves_.push_back({ShardId{shard}, NodeIndex{static_cast<std::uint16_t>(from)},
                      NodeIndex{static_cast<std::uint16_t>(to)}});
  }

  const PlanProblem& problem_;
  const std::size_t moves_max_;
  std::vector<double> loads_;
  std::vector<std::vector<std::uint32_t>> shards_;  // those that could move on, by cost
  std::vector<ShardMove> moves_;
  double mean_ = 0;  // of the load for each unit of weight; moves do not change it
};

}  // namespace

std::vector<ShardMove> moves_by_cost(const PlanProblem& problem, std::size_t moves_max,
                                     std::size_t& left_out) {
  return CostBalancer(problem, moves_max).run(left_out);
}

}  // namespace ringshard::core
