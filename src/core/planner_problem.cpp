#include <algorithm>
#include <cmath>
#include <ringshard/error.hpp>

#include "core/planner_parts.hpp"

namespace ringshard::core {

namespace {

Error invalid(const std::string& message) { return Error(ErrorCode::invalid_argument, message); }
Error refused(const std::string& message) { return Error(ErrorCode::refused, message); }

std::string shard_name(std::size_t shard) { return "shard " + std::to_string(shard); }

}  // namespace

PlanProblem::PlanProblem(const PlanRequest& request)
    : request_(request), shard_count_(static_cast<std::uint32_t>(request.placement.size())) {
  check_numbers();
  read_states();
  read_forbidden();
  read_pins();
  check_pins();
}

std::string PlanProblem::name(std::size_t node) const {
  return "node " + describe(ValueView(request_.nodes[node].name));
}

void PlanProblem::check_numbers() const {
  const auto& [nodes, placement, pins, forbidden, forbidden_nodes, tolerance, by, moves_max] =
      request_;
  if (placement.empty() || placement.size() > shard_count_max) {
    throw invalid("a plan needs 1 … " + std::to_string(shard_count_max) + " shards, not " +
                  std::to_string(placement.size()));
  }
  if (nodes.size() >= none) throw invalid("a plan can not have more than 65534 nodes");
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!std::isfinite(nodes[node].weight) || nodes[node].weight <= 0) {
      throw invalid(name(node) + " has the weight " + describe(ValueView(nodes[node].weight)) +
                    ", but a weight is a positive number");
    }
  }
  if (!(tolerance >= 0 && tolerance < 1)) {
    throw invalid("the tolerance " + describe(ValueView(tolerance)) +
                  " does not lie in 0 … 1 (0.10 is 10 %)");
  }
  if (!by.empty() && by.size() != placement.size()) {
    throw invalid(std::to_string(by.size()) + " costs are given for " +
                  std::to_string(placement.size()) + " shards");
  }
  for (std::size_t shard = 0; shard < by.size(); ++shard) {
    if (!std::isfinite(by[shard]) || by[shard] < 0) {
      throw invalid(shard_name(shard) + " has the cost " + describe(ValueView(by[shard])) +
                    ", but a cost is a number that is not negative");
    }
  }
  const auto check = [&](std::size_t shard, std::size_t node) {
    if (shard >= placement.size()) throw invalid("there is no " + shard_name(shard));
    if (node >= nodes.size()) {
      throw invalid(shard_name(shard) + " is said to be on node number " + std::to_string(node) +
                    ", but there are " + std::to_string(nodes.size()) + " nodes");
    }
  };
  for (std::size_t shard = 0; shard < placement.size(); ++shard) check(shard, placement[shard]);
  for (const ShardNode& pair : pins) check(pair.shard.value, pair.node.value);
  for (const ShardNode& pair : forbidden) check(pair.shard.value, pair.node.value);
  for (const NodeIndex node : forbidden_nodes) check(0, node.value);
}

void PlanProblem::read_states() {
  for (const NodeInfo& node : request_.nodes) active_.push_back(node.state == NodeState::active);
  if (std::ranges::find(active_, true) == active_.end()) {
    throw refused("no node is active, so there is nowhere to place shards: add a node");
  }
  receiving_ = active_;
  for (const NodeIndex node : request_.forbidden_nodes) receiving_[node.value] = false;
  for (std::size_t shard = 0; shard < shard_count_; ++shard) {
    if (request_.nodes[home(shard)].state != NodeState::removed) continue;
    throw refused(name(home(shard)) + " is removed, but " + shard_name(shard) +
                  " is placed on it: make it draining instead");
  }
}

void PlanProblem::read_forbidden() {
  forbidden_.resize(shard_count_);
  for (const auto& [shard, node] : request_.forbidden) {
    forbidden_[shard.value].push_back(node.value);
  }
  for (auto& nodes : forbidden_) {
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }
}

void PlanProblem::read_pins() {
  pins_.assign(shard_count_, none);
  for (const auto& [shard, node] : request_.pins) {
    std::uint16_t& pin = pins_[shard.value];
    if (pin != none && pin != node.value) {
      throw refused(shard_name(shard.value) + " is pinned to two nodes, " + name(pin) + " and " +
                    name(node.value));
    }
    pin = node.value;
  }
}

void PlanProblem::check_pins() const {
  for (const auto& [shard, node] : request_.pins) {
    const std::string pin = shard_name(shard.value) + " is pinned to " + name(node.value);
    if (!is_active(node.value)) {
      throw refused(pin + ", which is " + std::string(to_string(request_.nodes[node.value].state)) +
                    ": take the pin away or make the node active");
    }
    if (is_forbidden(shard.value, node.value)) {
      throw refused(pin + " and forbidden there: take one of the two away");
    }
    if (!is_receiving(node.value) && home(shard.value) != node.value) {
      throw refused(pin + ", which may not be given any shard");
    }
  }
}

bool PlanProblem::is_forbidden(std::size_t shard, std::uint16_t node) const {
  return std::ranges::binary_search(forbidden_[shard], node);
}

bool PlanProblem::may_stay(std::size_t shard) const {
  const std::uint16_t node = home(shard);
  if (pins_[shard] != none) return pins_[shard] == node;
  return active_[node] && !is_forbidden(shard, node);
}

bool PlanProblem::may_go(std::size_t shard, std::uint16_t node) const {
  if (pins_[shard] != none) return pins_[shard] == node;
  return receiving_[node] && !is_forbidden(shard, node);
}

void PlanProblem::refuse_shard(std::size_t shard) const {
  throw refused(shard_name(shard) + " can not stay on " + name(home(shard)) +
                " and may go to no other node: no active node is left that is neither forbidden "
                "nor without room");
}

}  // namespace ringshard::core
