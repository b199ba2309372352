#include <algorithm>
#include <cmath>
#include <ringshard/hash.hpp>

#include "core/planner_parts.hpp"

namespace ringshard::core {

namespace {

std::uint64_t place_of(std::size_t shard) {
  return hash_key(HashStrategy::xxh3, Key(static_cast<std::int64_t>(shard)));
}

}  // namespace

PlanRing::PlanRing(const std::vector<NodeInfo>& nodes, const std::vector<double>& weights) {
  double weight_sum = 0;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (weights[node] <= 0) continue;
    weight_sum += weights[node];
    node_of_rank_.push_back(static_cast<std::uint16_t>(node));
  }
  // Ordered by name, so that the order of the list makes no difference.
  std::ranges::sort(node_of_rank_, {},
                    [&](std::uint16_t node) -> const std::string& { return nodes[node].name; });
  const double mean = weight_sum / static_cast<double>(node_of_rank_.size());
  std::vector<detail::PointTable::Point> points;
  for (std::uint32_t rank = 0; rank < node_of_rank_.size(); ++rank) {
    const std::uint16_t node = node_of_rank_[rank];
    const auto count = std::llround(virtual_nodes_default * weights[node] / mean);
    for (std::int64_t i = 0; i < std::max<std::int64_t>(1, count); ++i) {
      points.push_back({detail::ring_point(nodes[node].name, static_cast<std::uint64_t>(i)), rank});
    }
  }
  table_ = detail::PointTable(std::move(points));
}

std::uint16_t PlanRing::owner(std::size_t shard) const {
  return node_of_rank_[table_.owner(place_of(shard))];
}

void PlanRing::set_room(std::vector<std::uint32_t> room) {
  room_ = std::move(room);
  const std::size_t size = table_.points().size();
  next_.resize(size);
  for (std::size_t i = 0; i < size; ++i) next_[i] = static_cast<std::uint32_t>((i + 1) % size);
}

std::uint16_t PlanRing::take(std::size_t shard) {
  const auto& points = table_.points();
  const std::size_t first = table_.position_of(place_of(shard));
  std::size_t found = first;
  while (room_[node_of_rank_[points[found].node]] == 0) found = next_[found];
  // Room is never given back, so what was skipped once may be skipped for ever.
  for (std::size_t i = first; i != found;) {
    const std::size_t after = next_[i];
    next_[i] = static_cast<std::uint32_t>(found);
    i = after;
  }
  const std::uint16_t node = node_of_rank_[points[found].node];
  --room_[node];
  return node;
}

}  // namespace ringshard::core
