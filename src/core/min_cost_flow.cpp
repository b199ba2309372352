#include "core/min_cost_flow.hpp"

#include <algorithm>
#include <deque>

namespace ringshard::core {

std::size_t MinCostFlow::add_arc(std::size_t from, std::size_t to, std::int64_t capacity,
                                 std::int64_t cost) {
  const std::size_t number = arcs_.size();
  arcs_.push_back({to, capacity, cost});
  arcs_.push_back({from, 0, -cost});
  arcs_of_[from].push_back(number);
  arcs_of_[to].push_back(number + 1);
  return number;
}

// Bellman-Ford with a queue: what flows may flow back at a negative cost.
void MinCostFlow::measure(std::size_t source) {
  distance_.assign(arcs_of_.size(), unreachable);
  std::vector<bool> queued(arcs_of_.size(), false);
  std::deque<std::size_t> queue = {source};
  distance_[source] = 0;
  while (!queue.empty()) {
    const std::size_t vertex = queue.front();
    queue.pop_front();
    queued[vertex] = false;
    for (const std::size_t number : arcs_of_[vertex]) {
      const Arc& arc = arcs_[number];
      if (arc.capacity == 0 || distance_[vertex] + arc.cost >= distance_[arc.to]) continue;
      distance_[arc.to] = distance_[vertex] + arc.cost;
      if (!queued[arc.to]) queue.push_back(arc.to);
      queued[arc.to] = true;
    }
  }
}

// Sends up to `limit` on along shortest paths only. A path has at most a few steps for each node.
std::int64_t MinCostFlow::push(std::size_t vertex, std::size_t sink, std::int64_t limit) {
  if (vertex == sink) return limit;
  on_path_[vertex] = true;
  std::int64_t pushed = 0;
  for (std::size_t& i = next_arc_[vertex]; i < arcs_of_[vertex].size(); ++i) {
    const std::size_t number = arcs_of_[vertex][i];
    const std::size_t to = arcs_[number].to;
    // Arcs without a cost may form circles, which must not be walked around.
    if (arcs_[number].capacity == 0 || on_path_[to] ||
        distance_[to] != distance_[vertex] + arcs_[number].cost) {
      continue;
    }
    const std::int64_t part = push(to, sink, std::min(limit - pushed, arcs_[number].capacity));
    arcs_[number].capacity -= part;
    arcs_[number ^ 1U].capacity += part;
    pushed += part;
    if (pushed == limit) break;
  }
  on_path_[vertex] = false;
  return pushed;
}

std::int64_t MinCostFlow::solve(std::size_t source, std::size_t sink) {
  std::int64_t total = 0;
  for (measure(source); is_reachable(sink); measure(source)) {
    next_arc_.assign(arcs_of_.size(), 0);
    on_path_.assign(arcs_of_.size(), false);
    const std::int64_t pushed = push(source, sink, INT64_MAX);
    total += pushed;
    if (pushed == 0) break;
  }
  return total;
}

}  // namespace ringshard::core
