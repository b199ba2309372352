#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ringshard/hash.hpp>
#include <ringshard/key.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringshard {

/// A piece of the circle of 64-bit hashes: all hashes after `after`, up to and including `up_to`.
/// It wraps around the end where after ≥ up_to; after == up_to is the whole circle.
struct HashInterval {
  std::uint64_t after = 0;
  std::uint64_t up_to = 0;

  constexpr bool contains(std::uint64_t hash) const noexcept {
    if (after < up_to) return hash > after && hash <= up_to;
    return hash > after || hash <= up_to;
  }
  /// Its part of the circle, greater than 0 and at most 1.
  double share() const noexcept;

  friend constexpr bool operator==(HashInterval, HashInterval) = default;
};

/// Virtual nodes for each unit of weight where nothing else is said.
inline constexpr std::uint32_t virtual_nodes_default = 160;

struct RingOptions {
  /// Points on the ring for each unit of weight. 30 leave a node with half again its due; 160 keep
  /// most rings within about a quarter of it. See HashRing::skew().
  std::uint32_t virtual_nodes = virtual_nodes_default;
};

/// How unevenly a ring is divided.
struct RingSkew {
  struct Node {
    std::string name;
    double weight = 0;
    std::size_t points = 0;
    double share = 0;  ///< its part of all hashes
    double due = 0;    ///< its part of all weight
    double ratio = 0;  ///< share / due; 1 is perfect
  };
  std::vector<Node> nodes;  ///< ordered by name
  double ratio_max = 0;     ///< the largest ratio: max over mean share per unit of weight
  double ratio_min = 0;
};

namespace detail {

/// The number of points of a node. Throws Error{invalid_argument} unless weight and virtual_nodes
/// are positive and the product is at most 2^20. At least 1.
std::size_t ring_point_count(std::string_view name, double weight, std::uint32_t virtual_nodes);

/// Point i of a node: the XXH3 of the composite (name, i), a stored format like every hash. A node
/// that gains weight keeps the points that it has.
std::uint64_t ring_point(std::string_view name, std::uint64_t i);

[[noreturn]] void refuse_empty_ring();
[[noreturn]] void refuse_ring_duplicate(std::string_view name);
[[noreturn]] void refuse_ring_name();

/// The points of all nodes in ascending order, with a table that says where each small range of
/// hashes begins, so that a look-up takes a step or two. Nodes are numbers here; where two of them
/// share a point the smaller number owns it, and the other one takes over when that is gone.
class PointTable {
 public:
  struct Point {
    std::uint64_t hash = 0;
    std::uint32_t node = 0;
  };
  struct Change {
    HashInterval interval;
    std::optional<std::uint32_t> from;
    std::optional<std::uint32_t> to;
  };

  PointTable() = default;
  explicit PointTable(std::vector<Point> points);

  bool empty() const noexcept { return points_.empty(); }
  const std::vector<Point>& points() const noexcept { return points_; }

  /// Position of the first point at or after `hash`, clockwise. Requires a point.
  std::size_t position_of(std::uint64_t hash) const noexcept {
    const std::size_t bucket = static_cast<std::size_t>(hash >> shift_);
    std::size_t position = starts_[bucket];
    while (position < points_.size() && points_[position].hash < hash) ++position;
    return position == points_.size() ? 0 : position;
  }
  std::uint32_t owner(std::uint64_t hash) const noexcept { return points_[position_of(hash)].node; }
  /// Up to `count` different nodes, clockwise from `hash`, the owner first.
  std::vector<std::uint32_t> successors(std::uint64_t hash, std::size_t count) const;

  /// Without points that own nothing; ascending by up_to.
  std::vector<std::pair<HashInterval, std::uint32_t>> intervals() const;

  /// Where the owner differs between two tables that number their nodes alike.
  static std::vector<Change> changes(const PointTable& before, const PointTable& after);

 private:
  std::vector<Point> points_;
  std::vector<std::uint32_t> starts_;
  unsigned shift_ = 63;
};

}  // namespace detail

/// The name of a node on a ring. Overload it, in your type's namespace, for a node type of your
/// own.
inline std::string_view ring_name(const std::string& node) noexcept { return node; }

template <class Node>
concept RingNode = std::copyable<Node> && requires(const Node& node) {
  { ring_name(node) } -> std::convertible_to<std::string_view>;
};

/// Consistent hashing: each node puts 160 points for each unit of weight on a circle of 64-bit
/// hashes (Karger et al. 1997; virtual nodes as in ketama), and a hash belongs to the first point
/// at or after it, clockwise. The point after the last is the first. So a point owns the interval
/// (previous point, own point], and when a node comes or goes only its own intervals change hands.
///
///     HashRing<std::string> ring;
///     ring.add("cache-1");
///     ring.add("cache-2", 2.0);                        // takes twice as much
///     const std::string& node = ring.owner("user:42"); // or owner(42)
///     ring.remove("cache-1");
///
/// A node is known by its name, and its points come from the name alone: it makes no difference in
/// which order nodes are added. Const functions may run in several threads at once; add() and
/// remove() need the ring for themselves. add() and remove() take time linear in the points.
template <RingNode Node>
class HashRing {
 public:
  struct OwnedInterval {
    HashInterval interval;
    Node node;
  };
  /// `from` is absent if the ring was empty before, `to` if it is empty afterwards.
  struct Change {
    HashInterval interval;
    std::optional<Node> from;
    std::optional<Node> to;
  };

  explicit HashRing(RingOptions options = {}) : options_(options) {}

  /// Throws Error{already_exists} if a node of this name is on the ring, Error{invalid_argument} if
  /// the name is empty or the weight is not a positive number (or asks for more than 2^20 points).
  void add(Node node, double weight = 1.0) {
    std::vector<Member> members = members_with(std::move(node), weight);
    table_ = table_of(members);
    members_ = std::move(members);
  }

  /// Takes the node and all its points away. False if there is none of this name.
  bool remove(std::string_view name) {
    if (!contains(name)) return false;
    std::vector<Member> members = members_without(name);
    table_ = table_of(members);
    members_ = std::move(members);
    return true;
  }

  bool contains(std::string_view name) const noexcept { return find(name) != members_.end(); }
  bool empty() const noexcept { return members_.empty(); }
  std::size_t size() const noexcept { return members_.size(); }
  std::size_t point_count() const noexcept { return table_.points().size(); }

  /// All nodes, ordered by name.
  std::vector<Node> nodes() const {
    std::vector<Node> nodes;
    for (const Member& member : members_) nodes.push_back(member.node);
    return nodes;
  }

  /// The node that a hash belongs to. Valid until the ring changes. Throws Error{refused} if the
  /// ring is empty.
  const Node& owner_of_hash(std::uint64_t hash) const {
    if (table_.empty()) detail::refuse_empty_ring();
    return members_[table_.owner(hash)].node;
  }

  /// The same for the XXH3 hash of a key: owner(42) hashes 42.
  const Node& owner(const Key& key) const {
    return owner_of_hash(hash_key(HashStrategy::xxh3, key));
  }

  /// Up to `count` different nodes clockwise from a hash, its owner first: the order in which to
  /// ask replicas. Fewer if the ring has fewer. Throws Error{refused} if the ring is empty.
  std::vector<Node> successors(std::uint64_t hash, std::size_t count) const {
    if (table_.empty()) detail::refuse_empty_ring();
    std::vector<Node> nodes;
    for (const std::uint32_t i : table_.successors(hash, count)) nodes.push_back(members_[i].node);
    return nodes;
  }

  /// One interval for each point, ascending; the first one wraps around. Empty if the ring is.
  std::vector<OwnedInterval> intervals() const {
    std::vector<OwnedInterval> result;
    for (const auto& [interval, i] : table_.intervals()) {
      result.push_back({interval, members_[i].node});
    }
    return result;
  }

  /// The intervals that would change owner, neighbours joined. Throws as add() does.
  std::vector<Change> changes_if_added(const Node& node, double weight = 1.0) const {
    return changes_to(members_with(node, weight),
                      [this](const Member& member) { return contains(name_of(member)); });
  }

  /// The same for a node that leaves; nothing if there is none of this name.
  std::vector<Change> changes_if_removed(std::string_view name) const {
    // What leaves is what would come if it were not there yet, the other way round.
    std::vector<Change> changes =
        changes_to(members_, [name](const Member& member) { return name_of(member) != name; });
    for (Change& change : changes) std::swap(change.from, change.to);
    return changes;
  }

  /// How much each node has of the circle and how much is due to it.
  RingSkew skew() const;

 private:
  struct Member {
    Node node;
    double weight = 1;
    std::size_t points = 0;
  };

  static std::string_view name_of(const Member& member) { return ring_name(member.node); }

  auto find(std::string_view name) const noexcept {
    // Members are ordered by name, so equal sets of nodes make equal rings.
    const auto at = std::ranges::lower_bound(members_, name, {}, &HashRing::name_of);
    return at != members_.end() && name_of(*at) == name ? at : members_.end();
  }

  std::vector<Member> members_with(Node node, double weight) const {
    const std::string name(ring_name(node));
    if (name.empty()) detail::refuse_ring_name();
    if (contains(name)) detail::refuse_ring_duplicate(name);
    const std::size_t points = detail::ring_point_count(name, weight, options_.virtual_nodes);
    std::vector<Member> members = members_;
    const auto at =
        std::ranges::lower_bound(members, std::string_view(name), {}, &HashRing::name_of);
    members.insert(at, Member{std::move(node), weight, points});
    return members;
  }

  std::vector<Member> members_without(std::string_view name) const {
    std::vector<Member> members;
    for (const Member& member : members_) {
      if (name_of(member) != name) members.push_back(member);
    }
    return members;
  }

  // The points of those members for whom `included` holds, numbered as in `members`.
  template <class Predicate>
  static detail::PointTable table_of(const std::vector<Member>& members, Predicate included) {
    std::vector<detail::PointTable::Point> points;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (!included(members[i])) continue;
      for (std::size_t k = 0; k < members[i].points; ++k) {
        points.push_back(
            {detail::ring_point(name_of(members[i]), k), static_cast<std::uint32_t>(i)});
      }
    }
    return detail::PointTable(std::move(points));
  }
  static detail::PointTable table_of(const std::vector<Member>& members) {
    return table_of(members, [](const Member&) { return true; });
  }

  // From the members for whom `included_before` holds to all of them.
  template <class Predicate>
  static std::vector<Change> changes_to(const std::vector<Member>& members,
                                        Predicate included_before) {
    std::vector<Change> result;
    for (const auto& change :
         detail::PointTable::changes(table_of(members, included_before), table_of(members))) {
      result.push_back({change.interval, std::nullopt, std::nullopt});
      if (change.from) result.back().from = members[*change.from].node;
      if (change.to) result.back().to = members[*change.to].node;
    }
    return result;
  }

  RingOptions options_;
  std::vector<Member> members_;
  detail::PointTable table_;
};

template <RingNode Node>
RingSkew HashRing<Node>::skew() const {
  RingSkew skew;
  double weight_sum = 0;
  for (const Member& member : members_) {
    weight_sum += member.weight;
    skew.nodes.push_back({std::string(name_of(member)), member.weight, member.points, 0, 0, 0});
  }
  for (const auto& [interval, i] : table_.intervals()) skew.nodes[i].share += interval.share();
  for (RingSkew::Node& node : skew.nodes) {
    node.due = node.weight / weight_sum;
    node.ratio = node.share / node.due;
    skew.ratio_max = std::max(skew.ratio_max, node.ratio);
  }
  skew.ratio_min = skew.ratio_max;
  for (const RingSkew::Node& node : skew.nodes) {
    skew.ratio_min = std::min(skew.ratio_min, node.ratio);
  }
  return skew;
}

}  // namespace ringshard
