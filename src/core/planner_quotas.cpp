#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <ringshard/error.hpp>

#include "core/planner_parts.hpp"

namespace ringshard {

namespace core {

namespace {

// One node's claim to its next shard.
struct Claim {
  double quotient;
  bool keeps;  // it has that shard already
  std::size_t node;

  // The greatest of all is served first: std::priority_queue's order.
  bool operator<(const Claim& other) const noexcept {
    if (quotient != other.quotient) return quotient < other.quotient;
    if (keeps != other.keeps) return other.keeps;
    return node > other.node;
  }
};

Claim claim_of(const Apportionment& request, const std::vector<std::uint32_t>& seats,
               std::size_t node) {
  return {request.weights[node] / (seats[node] + 1.0), seats[node] < request.keeps[node], node};
}

// Gives out shards until there are shard_count, none beyond `caps`.
void award(const Apportionment& request, const std::vector<std::uint32_t>& caps,
           std::vector<std::uint32_t>& seats) {
  std::uint64_t given = std::accumulate(seats.begin(), seats.end(), std::uint64_t{0});
  std::priority_queue<Claim> claims;
  for (std::size_t node = 0; node < seats.size(); ++node) {
    if (request.weights[node] > 0 && seats[node] < caps[node]) {
      claims.push(claim_of(request, seats, node));
    }
  }
  for (; given < request.shard_count; ++given) {
    if (claims.empty()) {
      throw Error(ErrorCode::refused,
                  "the nodes that may be given shards can not take all of them");
    }
    const std::size_t node = claims.top().node;
    claims.pop();
    if (++seats[node] < caps[node]) claims.push(claim_of(request, seats, node));
  }
}

// Takes shards back from those who have most for their weight, none below `floors`.
void take_back(const Apportionment& request, const std::vector<std::uint32_t>& floors,
               std::vector<std::uint32_t>& seats) {
  std::uint64_t given = std::accumulate(seats.begin(), seats.end(), std::uint64_t{0});
  const auto excess = [&](std::size_t node) { return seats[node] / request.weights[node]; };
  std::priority_queue<std::pair<double, std::size_t>> most;
  for (std::size_t node = 0; node < seats.size(); ++node) {
    if (seats[node] > floors[node]) most.push({excess(node), node});
  }
  for (; given > request.shard_count && !most.empty(); --given) {
    const std::size_t node = most.top().second;
    most.pop();
    if (--seats[node] > floors[node]) most.push({excess(node), node});
  }
}

}  // namespace

std::vector<std::uint32_t> apportion(const Apportionment& request) {
  const double weight_sum =
      std::accumulate(request.weights.begin(), request.weights.end(), double{0});
  // D'Hondt never gives less than the whole part of an exact share, so most need not be counted
  // out one by one. That is no longer so where a floor takes shards from the others.
  std::vector<std::uint32_t> seats(request.weights.size());
  bool floors_bind = false;
  for (std::size_t node = 0; node < seats.size(); ++node) {
    const double exact = request.shard_count * (request.weights[node] / weight_sum);
    const auto sure = static_cast<std::uint32_t>(std::max(0.0, std::floor(exact) - 1));
    seats[node] = std::min(sure, request.caps[node]);
    floors_bind = floors_bind || request.floors[node] > seats[node];
  }
  if (floors_bind) seats = request.floors;
  award(request, request.caps, seats);
  return seats;
}

std::vector<std::uint32_t> relax(const Apportionment& request,
                                 const std::vector<std::uint32_t>& quotas, double tolerance) {
  std::vector<std::uint32_t> low(quotas.size());
  std::vector<std::uint32_t> high(quotas.size());
  std::vector<std::uint32_t> seats(quotas.size());
  for (std::size_t node = 0; node < quotas.size(); ++node) {
    const double quota = quotas[node];
    // A quota of 10 with 10 % is 9 … 11, whatever 10 × 1.1 is in binary.
    low[node] = static_cast<std::uint32_t>(std::ceil(quota * (1 - tolerance) - 1e-9));
    high[node] = static_cast<std::uint32_t>(std::floor(quota * (1 + tolerance) + 1e-9));
    low[node] = std::max(low[node], request.floors[node]);
    high[node] = std::min(high[node], request.caps[node]);
    seats[node] = std::clamp(request.keeps[node], low[node], high[node]);
  }
  award(request, high, seats);
  take_back(request, low, seats);
  return seats;
}

}  // namespace core

std::vector<std::uint32_t> quotas(const std::vector<double>& weights, std::uint32_t shard_count) {
  double sum = 0;
  for (const double weight : weights) {
    if (!std::isfinite(weight) || weight < 0) {
      throw Error(ErrorCode::invalid_argument, "the weight " + describe(ValueView(weight)) +
                                                   " is not a number that is 0 or more");
    }
    sum += weight;
  }
  if (!(sum > 0)) throw Error(ErrorCode::refused, "no node has a weight, so none can take a shard");
  return core::apportion({.weights = weights,
                          .floors = std::vector<std::uint32_t>(weights.size(), 0),
                          .caps = std::vector<std::uint32_t>(weights.size(), shard_count),
                          .keeps = std::vector<std::uint32_t>(weights.size(), 0),
                          .shard_count = shard_count});
}

}  // namespace ringshard
