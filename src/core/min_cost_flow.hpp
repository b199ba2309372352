#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringshard::core {

/// A network in which each arc carries up to a capacity at a cost for each unit; costs are not
/// negative. Successive shortest paths, all paths of one length at a time (primal-dual).
class MinCostFlow {
 public:
  explicit MinCostFlow(std::size_t vertex_count) : arcs_of_(vertex_count) {}

  /// Returns the arc's number, for flow().
  std::size_t add_arc(std::size_t from, std::size_t to, std::int64_t capacity, std::int64_t cost);

  /// Sends as much as possible from `source` to `sink`, as cheaply as possible; returns how much.
  std::int64_t solve(std::size_t source, std::size_t sink);

  std::int64_t flow(std::size_t arc) const { return arcs_[arc ^ 1U].capacity; }
  bool is_full(std::size_t arc) const { return arcs_[arc].capacity == 0; }

  /// After solve(): whether more could be sent from its source to this vertex.
  bool is_reachable(std::size_t vertex) const { return distance_[vertex] != unreachable; }

 private:
  struct Arc {
    std::size_t to;
    std::int64_t capacity;  // what is left; of the opposite arc: what flows
    std::int64_t cost;
  };
  static constexpr std::int64_t unreachable = INT64_MAX;

  void measure(std::size_t source);
  std::int64_t push(std::size_t vertex, std::size_t sink, std::int64_t limit);

  std::vector<Arc> arcs_;  // an arc and its opposite side by side
  std::vector<std::vector<std::size_t>> arcs_of_;
  std::vector<std::int64_t> distance_;
  std::vector<std::size_t> next_arc_;
  std::vector<bool> on_path_;
};

}  // namespace ringshard::core
