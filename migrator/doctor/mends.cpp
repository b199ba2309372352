#include "migrator/doctor/mends.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <ringshard/error.hpp>

#include "migrator/doctor/homes.hpp"
#include "mover/capture.hpp"

namespace ringshard::cli {
namespace {

constexpr auto lock_wait = std::chrono::seconds(5);

[[noreturn]] void refuse(OpenFleet& fleet, ShardId shard, const std::string& why) {
  throw Error(ErrorCode::refused,
              "home " + fleet.home_of(shard).str() + ": " + why + "; run `ringshard doctor` again")
      .with_shard(shard);
}

void require_no_move(OpenFleet& fleet, ShardId shard) {
  if (const auto move = fleet.catalog.unfinished_move_of(fleet.keyspace.name, shard))
    refuse(fleet, shard, "it is in move " + move->id + " now");
}

/// A home of a node with an exclusive transaction begun.
class LockedHome {
 public:
  LockedHome(OpenFleet& fleet, ShardId shard, const std::string& node, Clock& clock)
      : backend_(fleet.nodes.at(node)),
        session_(backend_.connect(fleet.home_of(shard), SessionUse::maintenance)),
        store_(*session_, backend_.dialect()),
        tx_(*session_, fleet.home_of(shard), TxMode::exclusive, Deadline::after(clock, lock_wait)) {
  }

  HomeStore& store() { return store_; }
  const std::optional<HomeRecord>& record() const { return tx_.record(); }
  void commit() { tx_.commit(); }

 private:
  Backend& backend_;
  std::unique_ptr<Session> session_;
  HomeStore store_;
  SessionTransaction tx_;
};

}  // namespace

void drop_leftover(OpenFleet& fleet, ShardId shard, const std::string& node, Clock& clock) {
  const auto move = fleet.catalog.unfinished_move_of(fleet.keyspace.name, shard);
  if (move && (move->source == node || move->target == node))
    refuse(fleet, shard, "move " + move->id + " needs it now");
  const HomesOfShard homes = find_homes(fleet, shard);
  const auto own = homes.find(node);
  if (own == homes.end()) return;
  if (!own->second.has_record || own->second.record.role != Role::mirror)
    refuse(fleet, shard, "it is no mirror on node '" + node + "'");
  const bool owned = std::ranges::any_of(homes, [&](const auto& home) {
    return home.first != node && home.second.has_record && home.second.record.role == Role::owner;
  });
  if (!owned) refuse(fleet, shard, "no other node owns the shard");
  const auto is_mirror = [](const std::optional<HomeRecord>& record) {
    return record && record->role == Role::mirror;
  };
  if (!fleet.nodes.at(node).drop_home_if(fleet.home_of(shard), is_mirror,
                                         Deadline::after(clock, lock_wait)))
    refuse(fleet, shard, "it is no mirror on node '" + node + "' any more");
}

void end_capture(OpenFleet& fleet, ShardId shard, const std::string& node, Clock& clock) {
  Backend& backend = fleet.nodes.at(node);
  const HomeName home = fleet.home_of(shard);
  const std::unique_ptr<Session> session = backend.connect(home, SessionUse::maintenance);
  HomeStore store(*session, backend.dialect());
  ringshard::end_capture(store, home, clock, MoveOptions(),
                         [&](const std::optional<HomeRecord>& record) {
                           require_no_move(fleet, shard);
                           if (!record || record->role != Role::owner)
                             refuse(fleet, shard, "it is no owner on node '" + node + "'");
                         });
}

void promote(OpenFleet& fleet, ShardId shard, const std::string& old_owner,
             const std::string& new_owner, Clock& clock) {
  const auto old_record = find_record(fleet.nodes.at(old_owner), fleet.home_of(shard));
  LockedHome home(fleet, shard, new_owner, clock);
  if (!old_record || !home.record() || !handover_is_decided(*old_record, *home.record()))
    refuse(fleet, shard, "no handover to node '" + new_owner + "' is decided any more");
  home.store().promote(*old_record, old_owner);
  home.commit();
}

void correct_placement(OpenFleet& fleet, ShardId shard, const std::string& owner) {
  for (const auto& [node, home] : find_homes(fleet, shard)) {
    const bool owns = home.has_record && home.record.role == Role::owner;
    if (owns != (node == owner)) refuse(fleet, shard, "node '" + owner + "' is not its one owner");
  }
  fleet.catalog.correct_placement(fleet.keyspace.name, shard, owner);
}

}  // namespace ringshard::cli
