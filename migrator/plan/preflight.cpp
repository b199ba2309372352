#include "migrator/plan/preflight.hpp"

#include <algorithm>
#include <map>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <set>
#include <tuple>
#include <utility>

namespace ringshard::cli {
namespace {

/// Rooms on a target: what moves there has to fit, with its indexes and what is written meanwhile.
constexpr std::int64_t room_factor = 2;

class Preflight {
 public:
  Preflight(OpenFleet& fleet, const std::vector<PlannedMove>& moves,
            const std::vector<NodeInfo>& nodes, Clock& clock)
      : fleet_(fleet), moves_(moves), nodes_(nodes, clock, to_backend_options(fleet.config)) {}

  std::vector<PreflightFinding> run() {
    std::map<std::string, std::int64_t> bytes_to;
    std::set<std::pair<std::string, std::string>> pairs;
    for (const PlannedMove& move : moves_) {
      look_at_node(move.source);
      look_at_node(move.target);
      pairs.emplace(move.source, move.target);
      bytes_to[move.target] += move.bytes;
    }
    for (const auto& [source, target] : pairs) compare(source, target);
    for (const auto& [node, bytes] : bytes_to) look_at_room(node, bytes);
    for (const PlannedMove& move : moves_) look_at_home(move);
    add_objects();
    std::ranges::stable_sort(findings_, [](const auto& left, const auto& right) {
      return left.blocks && !right.blocks;
    });
    return std::move(findings_);
  }

 private:
  void add(bool blocks, const std::string& node, const std::string& object,
           const std::string& text) {
    findings_.push_back({blocks, false, node, object, text});
  }

  void look_at_node(const std::string& name) {
    if (!looked_at_.insert(name).second) return;
    try {
      Backend& backend = nodes_.at(name);
      backend.check_node();
      facts_[name] = backend.facts();
      for (const Obstacle& concern : facts_[name].concerns)
        add(false, name, concern.object, concern.reason);
    } catch (const Error& error) {
      findings_.push_back({true, error.retryable(), name, "the node", redact(error.what())});
    }
  }

  void compare(const std::string& source, const std::string& target) {
    if (!facts_.contains(source) || !facts_.contains(target)) return;
    if (form_between(nodes_.at(source).dialect(), nodes_.at(target).dialect()) != RowForm::native)
      return;
    const NodeFacts& from = facts_[source];
    const NodeFacts& to = facts_[target];
    if (to.major_version < from.major_version)
      add(false, target, "its database",
          "is older (" + to.version + ") than that of node '" + source + "' (" + from.version +
              "): definitions that it does not know make a move fail at its start; upgrade it "
              "first");
    const auto known = to.collations.find("");
    const auto default_of_source = from.collations.find("");
    if (known != to.collations.end() && default_of_source != from.collations.end() &&
        known->second != default_of_source->second)
      add(false, target, "its default collation",
          "is another one (" + known->second + ") than that of node '" + source + "' (" +
              default_of_source->second +
              "): texts are sorted in another order there; make the database with the same one, or "
              "declare COLLATE for the columns whose order matters");
  }

  void look_at_room(const std::string& node, std::int64_t bytes) {
    const auto facts = facts_.find(node);
    if (facts == facts_.end() || !facts->second.bytes_free) return;
    const std::int64_t free = *facts->second.bytes_free;
    if (free >= bytes * room_factor) return;
    // Both are estimates: a target that is full makes a move wait, and nothing is lost.
    add(false, node, "the room",
        "is " + std::to_string(free) + " bytes, and the shards that move there take " +
            std::to_string(bytes) + " and grow meanwhile: make room, or move fewer (--max-moves)");
  }

  void look_at_home(const PlannedMove& move) {
    if (!facts_.contains(move.source)) return;
    try {
      read_home(
          nodes_.at(move.source), fleet_.home_of(move.shard),
          [&](HomeStore& store, const std::optional<HomeRecord>&) {
            const HomeSchema schema = store.dialect().describe_schema(store.session());
            for (const Obstacle& obstacle : store.dialect().obstacles(store.session(), schema))
              objects_[{move.source, obstacle.object, obstacle.reason}].push_back(move.shard);
            look_at_keys(move, schema);
          });
    } catch (const Error& error) {
      objects_[{move.source, "the home", redact(error.what())}].push_back(move.shard);
    }
  }

  /// Ranges of keys are compared, so keys must have one order on both sides.
  void look_at_keys(const PlannedMove& move, const HomeSchema& schema) {
    const auto from = facts_.find(move.source);
    const auto to = facts_.find(move.target);
    if (to == facts_.end()) return;
    for (const Table& table : schema.tables)
      for (const std::string& collation : table.key_collations) {
        const auto here = from->second.collations.find(collation);
        const auto there = to->second.collations.find(collation);
        if (here == from->second.collations.end() || there == to->second.collations.end() ||
            here->second == there->second)
          continue;
        objects_[{move.source, table.name,
                  "has a primary key in " +
                      (collation.empty() ? "the default collation" : "collation " + collation) +
                      ", whose rules are others on node '" + move.target +
                      "': a move compares ranges of keys; declare the column with COLLATE \"C\""}]
            .push_back(move.shard);
      }
  }

  // What is wrong with many homes is said once.
  void add_objects() {
    for (const auto& [key, shards] : objects_) {
      const auto& [node, object, reason] = key;
      std::string where = " (shard " + std::to_string(shards.front().value);
      if (shards.size() > 1) where += " and " + std::to_string(shards.size() - 1) + " more";
      add(true, node, object, reason + where + ")");
    }
  }

  OpenFleet& fleet_;
  const std::vector<PlannedMove>& moves_;
  Nodes nodes_;
  std::set<std::string> looked_at_;
  std::map<std::string, NodeFacts> facts_;  // of nodes that answer
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<ShardId>> objects_;
  std::vector<PreflightFinding> findings_;
};

}  // namespace

std::vector<PreflightFinding> preflight(OpenFleet& fleet, const std::vector<PlannedMove>& moves,
                                        const std::vector<NodeInfo>& nodes, Clock& clock) {
  return Preflight(fleet, moves, nodes, clock).run();
}

}  // namespace ringshard::cli
