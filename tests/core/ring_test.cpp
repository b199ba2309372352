#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <ringshard/error.hpp>
#include <ringshard/ring.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace shop {

struct Cache {
  std::string host;
  int port = 0;
};
std::string_view ring_name(const Cache& cache) { return cache.host; }

}  // namespace shop

namespace ringshard {
namespace {

using Ring = HashRing<std::string>;
using detail::PointTable;

template <class Work>
std::optional<ErrorCode> code_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

Ring ring_of(const std::vector<std::string>& names, RingOptions options = {}) {
  Ring ring(options);
  for (const std::string& name : names) ring.add(name);
  return ring;
}

std::vector<std::string> names(int count) {
  std::vector<std::string> result;
  for (int i = 0; i < count; ++i) result.push_back("node-" + std::to_string(i));
  return result;
}

// The plainest ring there is, to compare with: Karger's, in a std::map.
std::string owner_by_map(const std::vector<std::string>& nodes, std::uint64_t hash) {
  std::map<std::uint64_t, std::string> points;
  for (const std::string& node : nodes) {
    for (std::uint64_t i = 0; i < virtual_nodes_default; ++i) {
      points.emplace(detail::ring_point(node, i), node);
    }
  }
  const auto found = points.lower_bound(hash);
  return found == points.end() ? points.begin()->second : found->second;
}

std::vector<std::uint64_t> random_hashes(std::size_t count) {
  std::mt19937_64 random(4711);
  std::vector<std::uint64_t> hashes(count);
  for (auto& hash : hashes) hash = random();
  return hashes;
}

bool equal_owners(const Ring& left, const Ring& right) {
  const auto a = left.intervals();
  const auto b = right.intervals();
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.interval == other.interval && one.node == other.node;
  });
}

TEST_CASE("a look-up finds what a plain ring in a std::map finds") {
  for (const int count : {1, 2, 7, 40}) {
    const Ring ring = ring_of(names(count));
    for (const std::uint64_t hash : random_hashes(200)) {
      CHECK(ring.owner_of_hash(hash) == owner_by_map(names(count), hash));
    }
  }
}

TEST_CASE("a key equal to a point belongs to that point, the next hash to the next one") {
  const Ring ring = ring_of(names(5));
  const auto intervals = ring.intervals();
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    CHECK(ring.owner_of_hash(intervals[i].interval.up_to) == intervals[i].node);
    CHECK(ring.owner_of_hash(intervals[i].interval.up_to + 1) ==
          intervals[(i + 1) % intervals.size()].node);
  }
}

TEST_CASE("past the last point the ring goes on with the first") {
  const PointTable table({{100, 1}, {UINT64_MAX - 5, 2}});
  CHECK(table.owner(0) == 1);
  CHECK(table.owner(100) == 1);
  CHECK(table.owner(101) == 2);
  CHECK(table.owner(UINT64_MAX - 5) == 2);
  CHECK(table.owner(UINT64_MAX - 4) == 1);
  CHECK(table.owner(UINT64_MAX) == 1);
  const auto intervals = table.intervals();
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].first == HashInterval{UINT64_MAX - 5, 100});
  CHECK(intervals[0].first.contains(UINT64_MAX));
  CHECK(intervals[0].first.contains(0));
  CHECK(intervals[0].first.contains(100));
  CHECK_FALSE(intervals[0].first.contains(101));
  CHECK_FALSE(intervals[0].first.contains(UINT64_MAX - 5));
}

TEST_CASE("points at both ends of the circle are found") {
  const PointTable table({{0, 1}, {UINT64_MAX, 2}});
  CHECK(table.owner(0) == 1);
  CHECK(table.owner(1) == 2);
  CHECK(table.owner(UINT64_MAX) == 2);
}

TEST_CASE("one point owns the whole circle") {
  const PointTable table({{12345, 9}});
  for (const std::uint64_t hash : {std::uint64_t{0}, std::uint64_t{12345}, UINT64_MAX}) {
    CHECK(table.owner(hash) == 9);
    CHECK(table.intervals().front().first.contains(hash));
  }
  CHECK(table.intervals().front().first.share() == 1.0);
}

TEST_CASE("the intervals cover the circle once") {
  const auto intervals = ring_of(names(9)).intervals();
  double sum = 0;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    sum += intervals[i].interval.share();
    CHECK(intervals[(i + 1) % intervals.size()].interval.after == intervals[i].interval.up_to);
  }
  CHECK(std::abs(sum - 1) < 1e-9);
  for (const std::uint64_t hash : random_hashes(50)) {
    CHECK(std::ranges::count_if(
              intervals, [hash](const auto& owned) { return owned.interval.contains(hash); }) == 1);
  }
}

TEST_CASE("the order in which nodes are added makes no difference") {
  std::vector<std::string> nodes = names(20);
  const Ring ring = ring_of(nodes);
  std::mt19937 random(1);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(nodes.begin(), nodes.end(), random);
    CHECK(equal_owners(ring_of(nodes), ring));
  }
}

TEST_CASE("of two nodes with the same point the smaller one has it, whichever came first") {
  const PointTable forward({{500, 3}, {500, 4}, {900, 5}});
  const PointTable backward({{900, 5}, {500, 4}, {500, 3}});
  for (const std::uint64_t hash : {0, 499, 500, 501, 900, 901}) {
    CHECK(forward.owner(hash) == backward.owner(hash));
  }
  CHECK(forward.owner(500) == 3);
  CHECK(forward.intervals().size() == 2);
  CHECK(forward.successors(500, 3) == std::vector<std::uint32_t>{3, 4, 5});
  const PointTable without({{500, 4}, {900, 5}});
  CHECK(without.owner(500) == 4);
  const auto changes = PointTable::changes(forward, without);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].interval == HashInterval{900, 500});
}

TEST_CASE("a removed node leaves no point on the ring") {
  const Ring before = ring_of(names(10));
  for (const double weight : {0.5, 1.0, 3.7}) {
    Ring ring = before;
    ring.add("guest", weight);
    CHECK(ring.point_count() > before.point_count());
    CHECK(ring.remove("guest"));
    CHECK(ring.point_count() == before.point_count());
    CHECK(equal_owners(ring, before));
    CHECK_FALSE(ring.contains("guest"));
  }
}

TEST_CASE("removing twice or under another name takes nothing away") {
  Ring ring = ring_of(names(3));
  CHECK(ring.remove("node-1"));
  CHECK_FALSE(ring.remove("node-1"));
  CHECK_FALSE(ring.remove("NODE-2"));
  CHECK_FALSE(ring.remove("node-2#0"));
  CHECK(equal_owners(ring, ring_of({"node-0", "node-2"})));
}

TEST_CASE("a node that is there already is refused and changes nothing") {
  Ring ring = ring_of(names(3));
  CHECK(code_of([&] { ring.add("node-1", 5); }) == ErrorCode::already_exists);
  CHECK(code_of([&] { ring.changes_if_added("node-1"); }) == ErrorCode::already_exists);
  CHECK(equal_owners(ring, ring_of(names(3))));
}

TEST_CASE("names and weights that make no sense are refused and change nothing") {
  Ring ring = ring_of(names(3));
  const auto invalid = ErrorCode::invalid_argument;
  CHECK(code_of([&] { ring.add(""); }) == invalid);
  for (const double weight : {0.0, -1.0, std::nan(""), HUGE_VAL, 1e9}) {
    CHECK(code_of([&] { ring.add("new", weight); }) == invalid);
  }
  CHECK(code_of([] { Ring(RingOptions{.virtual_nodes = 0}).add("a"); }) == invalid);
  CHECK(equal_owners(ring, ring_of(names(3))));
}

TEST_CASE("an empty ring says that it is empty") {
  Ring ring;
  CHECK(code_of([&] { ring.owner(42); }) == ErrorCode::refused);
  CHECK(code_of([&] { ring.owner_of_hash(42); }) == ErrorCode::refused);
  CHECK(code_of([&] { ring.successors(42, 1); }) == ErrorCode::refused);
  CHECK(ring.intervals().empty());
  CHECK(ring.skew().nodes.empty());
  CHECK(ring.changes_if_removed("a").empty());
  ring.add("a");
  CHECK(ring.remove("a"));
  CHECK(code_of([&] { ring.owner(42); }) == ErrorCode::refused);
}

// Every hash changes hands exactly where the report says so.
void check_changes(const Ring& before, const Ring& after,
                   const std::vector<Ring::Change>& changes) {
  for (const std::uint64_t hash : random_hashes(2000)) {
    const std::string& from = before.owner_of_hash(hash);
    const std::string& to = after.owner_of_hash(hash);
    int named = 0;
    for (const auto& change : changes) {
      if (!change.interval.contains(hash)) continue;
      ++named;
      CHECK(change.from == from);
      CHECK(change.to == to);
    }
    CHECK(named == (from == to ? 0 : 1));
  }
}

TEST_CASE("only the intervals of a node that comes change hands, and they are told beforehand") {
  const Ring before = ring_of(names(6));
  Ring after = before;
  after.add("new", 1.5);
  const auto changes = before.changes_if_added("new", 1.5);
  for (const auto& change : changes) CHECK(change.to == std::string("new"));
  check_changes(before, after, changes);
}

TEST_CASE("only the intervals of a node that goes change hands, and they are told beforehand") {
  const Ring before = ring_of(names(6));
  Ring after = before;
  after.remove("node-4");
  const auto changes = before.changes_if_removed("node-4");
  for (const auto& change : changes) CHECK(change.from == std::string("node-4"));
  check_changes(before, after, changes);
  CHECK(before.changes_if_removed("nobody").empty());
}

TEST_CASE("the first node takes and the last node gives the whole circle") {
  const auto first = Ring().changes_if_added("a");
  REQUIRE(first.size() == 1);
  CHECK_FALSE(first[0].from);
  CHECK(first[0].to == std::string("a"));
  CHECK(first[0].interval.share() == 1.0);
  const auto last = ring_of({"a"}).changes_if_removed("a");
  REQUIRE(last.size() == 1);
  CHECK(last[0].from == std::string("a"));
  CHECK_FALSE(last[0].to);
}

TEST_CASE("a node that gains weight keeps the points it has") {
  Ring light = ring_of(names(4));
  Ring heavy = light;
  light.add("grown", 1);
  heavy.add("grown", 2);
  for (const std::uint64_t hash : random_hashes(1000)) {
    if (light.owner_of_hash(hash) == "grown") CHECK(heavy.owner_of_hash(hash) == "grown");
  }
}

TEST_CASE("successors are different nodes in clockwise order, the owner first") {
  const Ring ring = ring_of(names(5));
  for (const std::uint64_t hash : random_hashes(100)) {
    const auto all = ring.successors(hash, 99);
    CHECK(std::set<std::string>(all.begin(), all.end()).size() == 5);
    CHECK(all.front() == ring.owner_of_hash(hash));
    Ring without = ring;
    without.remove(all[0]);
    CHECK(without.owner_of_hash(hash) == all[1]);
    CHECK(ring.successors(hash, 2) == std::vector<std::string>(all.begin(), all.begin() + 2));
    CHECK(ring.successors(hash, 0).empty());
  }
}

TEST_CASE("the report shows that 30 virtual nodes are skewed and that more are less so") {
  const double few = ring_of(names(20), {.virtual_nodes = 30}).skew().ratio_max;
  const double usual = ring_of(names(20)).skew().ratio_max;
  const double many = ring_of(names(20), {.virtual_nodes = 5000}).skew().ratio_max;
  CHECK(few > 1.3);
  CHECK(usual < 1.3);
  CHECK(many < 1.06);
  CHECK(few > usual);
}

TEST_CASE("shares follow the weights and add up to one") {
  Ring ring;
  ring.add("one", 1);
  ring.add("two", 2);
  ring.add("five", 5);
  const RingSkew skew = ring.skew();
  double sum = 0;
  for (const auto& node : skew.nodes) {
    sum += node.share;
    CHECK(node.points == static_cast<std::size_t>(160 * node.weight));
    CHECK(node.due == node.weight / 8);
    CHECK(std::abs(node.ratio - 1) < 0.35);
    CHECK(node.ratio <= skew.ratio_max);
    CHECK(node.ratio >= skew.ratio_min);
  }
  CHECK(std::abs(sum - 1) < 1e-9);
  CHECK(skew.nodes[0].name == "five");
}

TEST_CASE("the share in the report is the share of keys that go there") {
  const Ring ring = ring_of(names(4));
  std::map<std::string, int> counts;
  constexpr int keys = 100'000;
  for (int key = 0; key < keys; ++key) ++counts[ring.owner(key)];
  for (const auto& node : ring.skew().nodes) {
    CHECK(std::abs(counts[node.name] / double{keys} - node.share) < 0.01);
  }
}

TEST_CASE("a node of the user's own type needs only a name") {
  HashRing<shop::Cache> ring;
  ring.add({"cache-1", 11211});
  ring.add({"cache-2", 11212});
  CHECK(code_of([&] { ring.add({"cache-1", 9}); }) == ErrorCode::already_exists);
  const shop::Cache& cache = ring.owner("user:42");
  CHECK(cache.port == (cache.host == "cache-1" ? 11211 : 11212));
  CHECK(ring.remove("cache-1"));
  CHECK(ring.owner("user:42").port == 11212);
}

// A ring's points are a stored format: processes of different versions must agree.
TEST_CASE("the points of a node never change") {
  CHECK(detail::ring_point("node-0", 0) == hash_key(HashStrategy::xxh3, {"node-0", 0}));
  CHECK(detail::ring_point("node-0", 159) == hash_key(HashStrategy::xxh3, {"node-0", 159}));
}

}  // namespace
}  // namespace ringshard
