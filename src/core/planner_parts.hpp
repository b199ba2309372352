#pragma once

// The parts of the placement planner (planner.hpp), each of them a pure function of its arguments.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ringshard/ring.hpp>
#include <string>
#include <vector>

#include "core/planner.hpp"

namespace ringshard::core {

/// Quotas with a least and a most number of shards for each node, and those that a node would keep
/// anyway: of nodes with an equal claim to a shard, one that has it already goes first. Requires
/// sum(floors) ≤ shard_count ≤ sum(caps).
struct Apportionment {
  std::vector<double> weights;
  std::vector<std::uint32_t> floors;
  std::vector<std::uint32_t> caps;
  std::vector<std::uint32_t> keeps;
  std::uint32_t shard_count = 0;
};
std::vector<std::uint32_t> apportion(const Apportionment& request);

/// Quotas within `tolerance` of `quotas` that need the fewest moves: a node whose keeps lie in the
/// band stays as it is, as far as the sum allows.
std::vector<std::uint32_t> relax(const Apportionment& request,
                                 const std::vector<std::uint32_t>& quotas, double tolerance);

/// The request, checked and in a form that is quick to ask.
class PlanProblem {
 public:
  /// Throws as plan_moves() does, but for shards without a place, which only the search finds.
  explicit PlanProblem(const PlanRequest& request);

  const PlanRequest& request() const noexcept { return request_; }
  std::uint32_t shard_count() const noexcept { return shard_count_; }
  std::size_t node_count() const noexcept { return request_.nodes.size(); }

  std::uint16_t home(std::size_t shard) const { return request_.placement[shard]; }
  std::optional<std::uint16_t> pin(std::size_t shard) const {
    return pins_[shard] == none ? std::nullopt : std::optional<std::uint16_t>(pins_[shard]);
  }
  /// In ascending order.
  const std::vector<std::uint16_t>& forbidden(std::size_t shard) const { return forbidden_[shard]; }

  bool is_active(std::size_t node) const { return active_[node]; }
  /// Active, and may be given shards that it does not have.
  bool is_receiving(std::size_t node) const { return receiving_[node]; }
  bool may_stay(std::size_t shard) const;
  bool may_go(std::size_t shard, std::uint16_t node) const;

  double weight(std::size_t node) const { return active_[node] ? request_.nodes[node].weight : 0; }
  /// What is balanced: 1 for each shard, or its cost.
  double cost(std::size_t shard) const { return request_.by.empty() ? 1.0 : request_.by[shard]; }

  [[noreturn]] void refuse_shard(std::size_t shard) const;
  std::string name(std::size_t node) const;

 private:
  static constexpr std::uint16_t none = 0xffff;

  void check_numbers() const;
  void read_states();
  void read_pins();
  void read_forbidden();
  void check_pins() const;
  bool is_forbidden(std::size_t shard, std::uint16_t node) const;

  const PlanRequest& request_;
  std::uint32_t shard_count_ = 0;
  std::vector<bool> active_;
  std::vector<bool> receiving_;
  std::vector<std::uint16_t> pins_;
  std::vector<std::vector<std::uint16_t>> forbidden_;
};

/// The ring of all nodes with a weight above 0, which decides who takes which shard. Weights are
/// taken relative to their mean, so the ring has about 160 points a node whatever their unit is.
class PlanRing {
 public:
  PlanRing(const std::vector<NodeInfo>& nodes, const std::vector<double>& weights);

  std::uint16_t owner(std::size_t shard) const;

  /// How many more shards each node takes. From then on take() gives them out.
  void set_room(std::vector<std::uint32_t> room);
  bool has_room(std::size_t node) const { return room_[node] > 0; }
  /// Takes up one place at the node itself; requires room.
  void take_at(std::size_t node) { --room_[node]; }
  /// The first node clockwise from the shard's place that has room, whose room then is one less.
  /// Requires that there is room anywhere.
  std::uint16_t take(std::size_t shard);

 private:
  detail::PointTable table_;
  std::vector<std::uint16_t> node_of_rank_;
  std::vector<std::uint32_t> room_;
  /// For each point, a later one with no room anywhere in between.
  std::vector<std::uint32_t> next_;
};

/// How many shards leave and enter each node, besides those with a place of their own in `placed`.
struct Shift {
  std::vector<std::uint32_t> releases;  ///< of its ordinary shards, how many a node gives up
  std::vector<std::uint32_t> room;      ///< how many ordinary shards it takes
  std::vector<ShardNode> placed;  ///< shards whose node is decided: pinned or with forbidden places
};

/// The Shift with the fewest moves where shards have forbidden places: a minimum-cost flow
/// (successive shortest paths) from groups of like shards to nodes. Raises quotas that can not be
/// met otherwise. Throws Error{refused} naming a shard that can be nowhere.
Shift shift_by_flow(const PlanProblem& problem, std::vector<std::uint32_t> quotas,
                    const std::vector<std::uint32_t>& caps);

/// The moves of a plan by cost, in order, at most `moves_max`; `left_out` counts the forced ones
/// beyond.
std::vector<ShardMove> moves_by_cost(const PlanProblem& problem, std::size_t moves_max,
                                     std::size_t& left_out);

/// At a measured cost, balance is not sought closer than this.
inline constexpr double cost_tolerance_min = 0.01;

}  // namespace ringshard::core
