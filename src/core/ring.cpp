#include <bit>
#include <cmath>
#include <ringshard/error.hpp>
#include <ringshard/ring.hpp>

#include "core/hash_inline.hpp"

namespace ringshard {

double HashInterval::share() const noexcept {
  // The difference wraps around with the circle; 0 stands for all of it.
  const std::uint64_t length = up_to - after;
  return length == 0 ? 1.0 : std::ldexp(static_cast<double>(length), -64);
}

namespace detail {

namespace {

constexpr double points_max = 1U << 20U;

// Hashes are spread evenly, so a counting sort by their upper bits leaves next to nothing to do.
std::vector<PointTable::Point> sorted_into(const std::vector<PointTable::Point>& points,
                                           unsigned shift, std::vector<std::uint32_t>& starts) {
  for (const auto& point : points) ++starts[static_cast<std::size_t>(point.hash >> shift) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
  std::vector<PointTable::Point> sorted(points.size());
  for (const auto& point : points)
    sorted[next[static_cast<std::size_t>(point.hash >> shift)]++] = point;
  const auto before = [](const PointTable::Point& left, const PointTable::Point& right) {
    return left.hash != right.hash ? left.hash < right.hash : left.node < right.node;
  };
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    std::sort(sorted.begin() + starts[i], sorted.begin() + starts[i + 1], before);
  }
  return sorted;
}

}  // namespace

std::size_t ring_point_count(std::string_view name, double weight, std::uint32_t virtual_nodes) {
  const double points = weight * virtual_nodes;
  if (!std::isfinite(weight) || weight <= 0 || virtual_nodes == 0 || points > points_max) {
    throw Error(ErrorCode::invalid_argument,
                "node " + describe(ValueView(name)) + " has the weight " +
                    describe(ValueView(weight)) + " with " + std::to_string(virtual_nodes) +
                    " virtual nodes for each unit: both have to be positive, and their product "
                    "at most 1048576");
  }
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(points)));
}

std::uint64_t ring_point(std::string_view name, std::uint64_t i) {
  const auto bytes = core::little_endian_bytes(i);
  return core::xxh3({bytes.data(), bytes.size()}, core::xxh3(name, 0));
}

void refuse_empty_ring() {
  throw Error(ErrorCode::refused, "the ring is empty, so no node owns anything: add a node first");
}

void refuse_ring_duplicate(std::string_view name) {
  throw Error(ErrorCode::already_exists,
              "node " + describe(ValueView(name)) +
                  " is on the ring already: remove it first to give it another weight");
}

void refuse_ring_name() {
  throw Error(ErrorCode::invalid_argument, "a node on a ring needs a name");
}

PointTable::PointTable(std::vector<Point> points) {
  if (points.empty()) return;
  const unsigned bits = std::max(1U, static_cast<unsigned>(std::bit_width(points.size())));
  shift_ = 64U - bits;
  starts_.assign((std::size_t{1} << bits) + 1, 0);
  points_ = sorted_into(points, shift_, starts_);
}

std::vector<std::uint32_t> PointTable::successors(std::uint64_t hash, std::size_t count) const {
  std::vector<std::uint32_t> nodes;
  if (points_.empty()) return nodes;
  std::vector<bool> seen;
  const std::size_t first = position_of(hash);
  for (std::size_t i = 0; i < points_.size() && nodes.size() < count; ++i) {
    const std::uint32_t node = points_[(first + i) % points_.size()].node;
    if (seen.size() <= node) seen.resize(node + 1, false);
    if (seen[node]) continue;
    seen[node] = true;
    nodes.push_back(node);
  }
  return nodes;
}

std::vector<std::pair<HashInterval, std::uint32_t>> PointTable::intervals() const {
  std::vector<std::pair<HashInterval, std::uint32_t>> result;
  if (points_.empty()) return result;
  std::uint64_t previous = points_.back().hash;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    // A second point at the same place owns nothing.
    if (i > 0 && points_[i].hash == points_[i - 1].hash) continue;
    result.push_back({HashInterval{previous, points_[i].hash}, points_[i].node});
    previous = points_[i].hash;
  }
  return result;
}

std::vector<PointTable::Change> PointTable::changes(const PointTable& before,
                                                    const PointTable& after) {
  std::vector<std::uint64_t> places;
  for (const Point& point : before.points_) places.push_back(point.hash);
  for (const Point& point : after.points_) places.push_back(point.hash);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());

  std::vector<Change> result;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t previous = i > 0 ? places[i - 1] : places.back();
    Change change{HashInterval{previous, places[i]}, std::nullopt, std::nullopt};
    if (!before.empty()) change.from = before.owner(places[i]);
    if (!after.empty()) change.to = after.owner(places[i]);
    if (change.from == change.to) continue;
    Change* last = result.empty() ? nullptr : &result.back();
    if (last && last->interval.up_to == previous && last->from == change.from &&
        last->to == change.to) {
      last->interval.up_to = change.interval.up_to;
    } else {
      result.push_back(change);
    }
  }
  // The last and the first may be one interval that wraps around.
  if (result.size() > 1 && result.back().interval.up_to == result.front().interval.after &&
      result.back().from == result.front().from && result.back().to == result.front().to) {
    result.front().interval.after = result.back().interval.after;
    result.pop_back();
  }
  return result;
}

}  // namespace detail

}  // namespace ringshard
