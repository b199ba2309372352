#include "migrator/doctor/examination.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ringshard/error.hpp>
#include <utility>

#include "core/home_text.hpp"
#include "migrator/doctor/home_scan.hpp"
#include "migrator/doctor/homes.hpp"
#include "migrator/doctor/mends.hpp"
#include "migrator/doctor/misplaced.hpp"
#include "migrator/doctor/reference.hpp"

namespace ringshard::cli {
namespace {

/// So many misplaced rows of a home are brought home at once.
constexpr std::size_t misplaced_max = 10'000;
constexpr const char* mend_command = "ringshard doctor --mend";

bool is_owner(const FoundHome& home) { return home.has_record && home.record.role == Role::owner; }

class Examiner {
 public:
  Examiner(OpenFleet& fleet, Clock& clock, Progress& progress)
      : fleet_(fleet), clock_(clock), progress_(progress) {}

  Examination run() {
    load_moves();
    for (const auto& [shard, move] : moves_) examine_move(move);
    FoundHomes found = find_all_homes(fleet_);
    unreachable_ = found.unreachable;
    for (const auto& [node, why] : found.unreachable)
      add({.kind = FindingKind::node_unreachable,
           .node = node,
           .text = "node '" + node + "' can not be asked: " + why,
           .command = "ringshard doctor"});
    for (std::uint32_t shard = 0; shard < fleet_.topology.shard_count(); ++shard) {
      examine_shard(ShardId{shard}, found.shards[ShardId{shard}]);
      progress_.report("examine homes", shard + 1, fleet_.topology.shard_count(), "shards");
    }
    judge_unknown_shards(found);
    examine_references();
    return std::move(result_);
  }

 private:
  void add(Finding finding) { result_.findings.push_back(std::move(finding)); }

  void add_unreadable(ShardId shard, const std::string& node, const std::string& why) {
    add({.kind = FindingKind::unreadable_home,
         .shard = shard,
         .node = node,
         .text = at(shard, node) + " can not be read: " + why,
         .command = "ringshard verify --shard " + std::to_string(shard.value)});
  }

  /// `what` continues a sentence that begins with the home and what it says of itself.
  void add_mendable(FindingKind kind, ShardId shard, const std::string& node,
                    const HomeRecord& record, const std::string& what, std::function<void()> mend) {
    add({.kind = kind,
         .shard = shard,
         .node = node,
         .move_id = record.move_id,
         .text = at(shard, node) + " (" + describe(record) + ") " + what,
         .command = mend_command,
         .mend = std::move(mend)});
  }

  std::string at(ShardId shard, const std::string& node) const {
    return "home " + fleet_.home_of(shard).str() + " on node '" + node + "'";
  }

  void load_moves() {
    for (MoveRecord& move : fleet_.catalog.moves(fleet_.keyspace.name, true))
      moves_.emplace(move.shard, std::move(move));
    result_.moves = std::ssize(moves_);
  }

  // ---- moves

  void examine_move(const MoveRecord& move) {
    const std::string name = "move " + move.id + " of shard " + std::to_string(move.shard.value);
    if (is_being_run(move, clock_)) {
      result_.notes.push_back(name + " is being run by " + move.lease_holder +
                              "; its homes were not judged");
      return;
    }
    const bool observes = move.stage == MoveStage::observing;
    if (observes && move.observe_until_ms > clock_.unix_ms() && move.wish != MoveWish::roll_back &&
        move.wish != MoveWish::finalize)
      return;
    Finding finding{.kind = FindingKind::half_move,
                    .shard = move.shard,
                    .node = move.source,
                    .move_id = move.id};
    finding.text =
        name + " is " + std::string(ringshard::to_string(move.stage)) + " and nobody runs it";
    if (observes) finding.text += "; its time of observation is over";
    if (move.wish == MoveWish::pause) finding.text += "; it was paused";
    if (!move.error.empty()) finding.text += "; it stopped with: " + move.error;
    finding.command = "ringshard resume " + move.id + (move.differences_found ? " --repair" : "");
    add(std::move(finding));
  }

  // ---- homes

  /// A shard that was moved on while it was looked at is looked at again.
  void examine_shard(ShardId shard, HomesOfShard homes) {
    for (int look = 0; look < 3; ++look) {
      const auto before = fleet_.catalog.unfinished_move_of(fleet_.keyspace.name, shard);
      if (before && is_being_run(*before, clock_)) return;
      if (look > 0) homes = find_homes(fleet_, shard);
      const Examination earlier = std::exchange(result_, {});
      judge_shard(shard, homes, before);
      if (result_.findings.empty() || is_settled(shard, before)) return add_to(earlier);
      result_ = earlier;
    }
    result_.notes.push_back("shard " + std::to_string(shard.value) +
                            " kept changing while it was looked at; it was not judged");
  }

  void judge_unknown_shards(const FoundHomes& found) {
    const ShardId first_unknown{fleet_.topology.shard_count()};
    for (auto shard = found.shards.lower_bound(first_unknown); shard != found.shards.end(); ++shard)
      for (const auto& [node, home] : shard->second)
        add({.kind = FindingKind::wrong_record,
             .shard = shard->first,
             .node = node,
             .text = at(shard->first, node) + " is of a shard that the keyspace does not have",
             .command = "ringshard doctor"});
  }

  /// Nothing that a judgement relies on has changed since.
  bool is_settled(ShardId shard, const std::optional<MoveRecord>& before) {
    const Topology now = fleet_.catalog.topology(fleet_.keyspace.name);
    const bool placed = now.node(now.node_of(shard)).name == fleet_.node_of(shard);
    fleet_.topology = now;
    return placed &&
           same_move(before, fleet_.catalog.unfinished_move_of(fleet_.keyspace.name, shard));
  }

  void add_to(const Examination& earlier) {
    result_.findings.insert(result_.findings.begin(), earlier.findings.begin(),
                            earlier.findings.end());
    result_.notes.insert(result_.notes.begin(), earlier.notes.begin(), earlier.notes.end());
    result_.homes += earlier.homes;
    result_.rows += earlier.rows;
    result_.moves += earlier.moves;
  }

  static bool same_move(const std::optional<MoveRecord>& left,
                        const std::optional<MoveRecord>& right) {
    if (left.has_value() != right.has_value()) return false;
    return !left || (left->id == right->id && left->stage == right->stage);
  }

  void judge_shard(ShardId shard, const HomesOfShard& homes,
                   const std::optional<MoveRecord>& move) {
    result_.homes += std::ssize(homes);
    for (const auto& [node, home] : homes) judge_home(shard, node, home);
    judge_handover(shard, homes);
    judge_owners(shard, homes, move);
    if (!move) judge_captures(shard, homes);
    judge_leftovers(shard, homes, move);
    for (const auto& [node, home] : homes)
      if (is_owner(home) && home.error.empty()) judge_rows(shard, node, home);
  }

  void judge_home(ShardId shard, const std::string& node, const FoundHome& home) {
    if (!home.error.empty()) return add_unreadable(shard, node, home.error);
    const bool right = home.has_record && home.record.keyspace == fleet_.keyspace.name &&
                       home.record.shard == shard;
    if (right) return;
    add({.kind = FindingKind::wrong_record,
         .shard = shard,
         .node = node,
         .text =
             at(shard, node) + (home.has_record ? " says that it is shard " +
                                                      std::to_string(home.record.shard.value) +
                                                      " of keyspace '" + home.record.keyspace + "'"
                                                : " has no record"),
         .command = "ringshard verify --shard " + std::to_string(shard.value)});
  }

  void judge_handover(ShardId shard, const HomesOfShard& homes) {
    for (const auto& [old_node, old_home] : homes) {
      const auto other = homes.find(old_home.record.peer);
      if (other == homes.end() || !old_home.has_record || !other->second.has_record) continue;
      if (!handover_is_decided(old_home.record, other->second.record)) {
        judge_certificate(shard, old_node, old_home.record, other->first, other->second.record);
        continue;
      }
      add({.kind = FindingKind::handover_not_promoted,
           .shard = shard,
           .node = other->first,
           .move_id = old_home.record.move_id,
           .text = at(shard, old_node) + " has handed over to node '" + other->first +
                   "', which does not know it yet (any router that comes by finishes it)",
           .command = mend_command,
           .mend = [this_fleet = &fleet_, clock = &clock_, shard, old_owner = old_node,
                    new_owner = other->first] {
             promote(*this_fleet, shard, old_owner, new_owner, *clock);
           }});
    }
  }

  /// What was certified, and what is there now, are two copies of one home.
  void judge_certificate(ShardId shard, const std::string& old_node, const HomeRecord& decided,
                         const std::string& new_node, HomeRecord found) {
    found.certificate = decided.certificate;
    if (!handover_is_decided(decided, found)) return;
    add({.kind = FindingKind::copy_not_certified,
         .shard = shard,
         .node = new_node,
         .move_id = decided.move_id,
         .text = at(shard, new_node) +
                 " shall own the shard and is older than the copy that node '" + old_node +
                 "' handed over to, as if restored from a backup: bring back a later one. " +
                 at(shard, old_node) + " holds every row as of the handover",
         .command = "ringshard verify --shard " + std::to_string(shard.value)});
  }

  void judge_owners(ShardId shard, const HomesOfShard& homes,
                    const std::optional<MoveRecord>& move) {
    std::vector<std::string> owners;
    for (const auto& [node, home] : homes)
      if (is_owner(home)) owners.push_back(node);
    const std::string placed = fleet_.node_of(shard);
    if (owners.size() > 1) {
      std::string text = "shard " + std::to_string(shard.value) + " has an owner on each of";
      for (const std::string& node : owners) text += " '" + node + "'";
      add({.kind = FindingKind::two_owners,
           .shard = shard,
           .node = placed,
           .text = text + "; the placement says '" + placed +
                   "': compare the two and remove the one that no application has written to",
           .command = "ringshard verify --shard " + std::to_string(shard.value)});
    } else if (owners.empty()) {
      judge_ownerless(shard, homes, placed);
    } else if (owners.front() != placed && !move) {
      add({.kind = FindingKind::placement_behind,
           .shard = shard,
           .node = owners.front(),
           .text = "shard " + std::to_string(shard.value) + " is owned by its home on node '" +
                   owners.front() + "', the placement says '" + placed + "'",
           .command = mend_command,
           .mend = [this_fleet = &fleet_, shard, owner = owners.front()] {
             correct_placement(*this_fleet, shard, owner);
           }});
    }
  }

  void judge_ownerless(ShardId shard, const HomesOfShard& homes, const std::string& placed) {
    const bool explained =
        unreachable_.contains(placed) ||
        std::ranges::any_of(result_.findings, [&](const Finding& finding) {
          return finding.shard == shard && (finding.kind == FindingKind::handover_not_promoted ||
                                            finding.kind == FindingKind::copy_not_certified ||
                                            finding.kind == FindingKind::unreadable_home);
        });
    if (explained) return;
    const bool is_there = homes.contains(placed);
    add({.kind = FindingKind::missing_home,
         .shard = shard,
         .node = placed,
         .text = is_there ? at(shard, placed) + " says " + describe(homes.at(placed).record) +
                                ", and no home of the shard says owner"
                          : at(shard, placed) +
                                " does not exist, and no other node owns the shard: bring it back "
                                "from a backup",
         .command = "ringshard verify --shard " + std::to_string(shard.value)});
  }

  void judge_captures(ShardId shard, const HomesOfShard& homes) {
    for (const auto& [node, home] : homes) {
      const bool at_rest = home.record.peer.empty() && home.record.move_id.empty();
      if (!is_owner(home) || (at_rest && !home.has_capture)) continue;
      add_mendable(FindingKind::capture_left, shard, node, home.record,
                   "still records changes, and its shard is in no move",
                   [this_fleet = &fleet_, clock = &clock_, shard, owner = node] {
                     end_capture(*this_fleet, shard, owner, *clock);
                   });
    }
  }

  void judge_leftovers(ShardId shard, const HomesOfShard& homes,
                       const std::optional<MoveRecord>& move) {
    const bool owned =
        std::ranges::any_of(homes, [](const auto& home) { return is_owner(home.second); });
    for (const auto& [node, home] : homes) {
      const bool needed = move && (move->source == node || move->target == node);
      if (needed || is_owner(home) || !home.has_record) continue;
      if (!owned) continue;  // said as a missing owner or a handover
      add_mendable(FindingKind::leftover_home, shard, node, home.record,
                   "is left over: neither the placement nor an unfinished move needs it",
                   [this_fleet = &fleet_, clock = &clock_, shard, mirror = node] {
                     drop_leftover(*this_fleet, shard, mirror, *clock);
                   });
    }
  }

  // ---- rows

  void judge_rows(ShardId shard, const std::string& node, const FoundHome& home) {
    HomeScan scan;
    try {
      read_home(fleet_.nodes.at(node), fleet_.home_of(shard),
                [&](HomeStore& store, const std::optional<HomeRecord>&) {
                  scan = scan_home(store, fleet_.keyspace, fleet_.topology, shard, misplaced_max);
                });
    } catch (const Error& error) {
      return add_unreadable(shard, node, error.what());
    }
    result_.rows += scan.rows;
    for (const auto& [table, rows] : scan.keyless)
      add({.kind = FindingKind::keyless_rows,
           .shard = shard,
           .node = node,
           .text = at(shard, node) + ": " + std::to_string(rows) + " rows of table " + table +
                   " have no key: their parent is not here, or a key column holds NULL or another "
                   "type",
           .command = "ringshard verify --shard " + std::to_string(shard.value)});
    if (scan.rows_misplaced > 0) add(misplaced_finding(shard, node, home, std::move(scan)));
  }

  Finding misplaced_finding(ShardId shard, const std::string& node, const FoundHome& home,
                            HomeScan scan) {
    Finding finding{.kind = FindingKind::misplaced_rows, .shard = shard, .node = node};
    finding.text =
        at(shard, node) + " has " + std::to_string(scan.rows_misplaced) +
        " rows whose key belongs to another shard; the first: " + describe(scan.misplaced.front());
    finding.command = mend_command;
    if (!home.record.move_id.empty() || !home.record.peer.empty()) {
      finding.text += "; they can be brought home when the shard's move is over";
      return finding;
    }
    finding.mend = [this_fleet = &fleet_, clock = &clock_, shard,
                    rows = std::move(scan.misplaced)] {
      const MisplacedMend mend = bring_home(*this_fleet, shard, rows, *clock);
      if (mend.refused.empty()) return;
      throw Error(ErrorCode::differs, std::to_string(mend.moved) + " rows were brought home, " +
                                          std::to_string(mend.refused.size()) +
                                          " were not; the first: " + mend.refused.front());
    };
    return finding;
  }

  // ---- reference data

  void examine_references() {
    const ReferenceReport report = compare_references(fleet_);
    for (const ReferenceDifference& difference : report.differences)
      add({.kind = FindingKind::reference_differs,
           .node = difference.node,
           .text = "the reference home on node '" + difference.node + "' " +
                   (difference.table.empty() ? "" : "has a table " + difference.table + " that ") +
                   difference.text,
           .command = "ringshard doctor --reference-from " +
                      (difference.like_node.empty() ? "NODE" : difference.like_node)});
  }

  OpenFleet& fleet_;
  Clock& clock_;
  Progress& progress_;
  std::map<ShardId, MoveRecord> moves_;
  std::map<std::string, std::string> unreachable_;
  Examination result_;
};

}  // namespace

std::string_view to_string(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::half_move:
      return "half_move";
    case FindingKind::leftover_home:
      return "leftover_home";
    case FindingKind::missing_home:
      return "missing_home";
    case FindingKind::two_owners:
      return "two_owners";
    case FindingKind::placement_behind:
      return "placement_behind";
    case FindingKind::copy_not_certified:
      return "copy_not_certified";
    case FindingKind::handover_not_promoted:
      return "handover_not_promoted";
    case FindingKind::capture_left:
      return "capture_left";
    case FindingKind::wrong_record:
      return "wrong_record";
    case FindingKind::unreadable_home:
      return "unreadable_home";
    case FindingKind::misplaced_rows:
      return "misplaced_rows";
    case FindingKind::keyless_rows:
      return "keyless_rows";
    case FindingKind::reference_differs:
      return "reference_differs";
    case FindingKind::node_unreachable:
      return "node_unreachable";
  }
  return "unknown";
}

Examination examine(OpenFleet& fleet, Clock& clock, Progress& progress) {
  return Examiner(fleet, clock, progress).run();
}

}  // namespace ringshard::cli
