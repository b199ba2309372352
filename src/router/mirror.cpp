#include "router/mirror.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "backend/pool.hpp"
#include "router/owner_search.hpp"
#include "support/fault.hpp"
#include "support/log.hpp"

namespace ringshard::router {

namespace {

HomeName home_of(const HomeRecord& record) { return {record.keyspace, record.shard}; }

std::string name_of(const HomeRecord& record) {
  return "shard " + std::to_string(record.shard.value) + " of keyspace '" + record.keyspace + "'";
}

// True if this home still is in the state that `owner` describes.
bool same_leg(const HomeRecord& record, const HomeRecord& owner) {
  return record.move_id == owner.move_id && record.leg == owner.leg;
}

Error as_error(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return *ours;
  return Error(ErrorCode::internal, error.what());
}

}  // namespace

Mirror::Write::Write(Mirror& mirror, std::shared_ptr<const View> view, const HomeRecord& owner,
                     HomeStore& store)
    : mirror_(mirror), view_(std::move(view)), owner_(owner), store_(store) {
  try {
    begin();
  } catch (const Error& error) {
    not_mirrored(error);
  }
}

Mirror::Write::~Write() {
  if (erased_.empty()) return;
  try {
    mirror_.trim_.add(owner_, erased_);
  } catch (const std::exception&) {
    // Forgotten: they stay in the change log until the migrator deletes them.
  }
}

void Mirror::Write::begin() {
  const auto peer = view_->find(owner_.peer);
  // A node that was added for this move: the topology that names it is on its way.
  if (!peer) mirror_.feed_.nudge();
  if (peer) peer_ = &view_->node(*peer);
  if (peer_ == nullptr || !mirror_.allows(*peer_, owner_.shard)) {
    state_ = State::skipping;
    return;
  }
  head_ = store_.log_mark();
  state_ = State::noted;
}

void Mirror::Write::collect() {
  try {
    if (state_ == State::noted) read_changes();
    if (routers_trim_log(owner_)) {
      erased_ = mirror_.trim_.take(owner_);
      if (!erased_.empty()) store_.log_erase(erased_);
    }
  } catch (const Error& error) {
    not_mirrored(error);
  }
}

// The change log could not be read: goes on without it, unless the caller's transaction is lost
// too.
void Mirror::Write::not_mirrored(const Error& error) {
  if (!store_.session().recover()) throw Error(error);
  mirror_.failed(peer_, owner_, error);
  state_ = State::idle;
}

void Mirror::Write::read_changes() {
  std::vector<Change> log = store_.noted_since(head_, changes_max + 1);
  if (log.size() > static_cast<std::size_t>(changes_max)) {
    state_ = State::skipping;
    return;
  }
  std::erase_if(log, [this](const Change& change) { return change.leg != owner_.leg; });
  for (const Change& change : log) seqs_.push_back(change.seq);
  changes_ = store_.rows_of(log);
  state_ = State::collected;
}

void Mirror::Write::send(Node& owner_node) noexcept {
  erased_.clear();  // committed
  bool arrived = true;
  try {
    // Whatever is met here, the write is committed and must be acknowledged.
    fault::hit(FaultPoint::write_committed);
    if (state_ == State::skipping) {
      arrived = false;
      Counters::count(mirror_.counters_.mirror_skips);
      mirror_.skip_log_.write(mirror_.clock_, LogLevel::warning,
                              name_of(owner_) + ": a write was not mirrored to node '" +
                                  owner_.peer +
                                  "' (left alone after failures, not known yet, or "
                                  "too large a change); its change log keeps it");
    } else if (state_ == State::collected && !changes_.empty()) {
      deliver();
    }
  } catch (const std::exception& error) {
    arrived = false;
    mirror_.failed(peer_, owner_, as_error(error));
  }
  if (state_ != State::idle) after_send(owner_node, arrived);
}

void Mirror::Write::deliver() {
  const Deadline deadline = Deadline::after(mirror_.clock_, mirror_.timeout_);
  const HomeName home = home_of(owner_);
  Begun begun = begin_in_home(peer_->maintenance(), home, TxMode::write, deadline, deadline);
  try {
    const bool wanted =
        begun.record && begun.record->role == Role::mirror && same_leg(*begun.record, owner_);
    if (!wanted) {
      // Late: the peer has become the owner, or belongs to another move, or is gone.
      begun.lease.discard();
      Counters::count(mirror_.counters_.mirror_drops);
      return;
    }
    begun.lease.store().apply(changes_, UniqueConflict::fail);
    begun.lease->commit();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::conflict && error.code() != ErrorCode::constraint) {
      begun.lease.discard();
    }
    throw;
  }
  Counters::count(mirror_.counters_.mirror_writes);
  peer_->circuit().succeeded();
  mirror_.slot_of(owner_.shard).circuit.succeeded();
  if (routers_trim_log(owner_)) mirror_.trim_.add(owner_, seqs_);
}

// Looks now and then at how long the change log has become: where nobody shortens it.
void Mirror::Write::after_send(Node& owner_node, bool arrived) noexcept {
  if (arrived && routers_trim_log(owner_)) return;
  auto& unchecked = mirror_.slot_of(owner_.shard).unchecked;
  if (unchecked.fetch_add(1) + 1 < mirror_.check_every_) return;
  unchecked.store(0);
  mirror_.bound_log(owner_node, *view_, owner_);
}

bool Mirror::allows(Node& peer, ShardId shard) noexcept {
  const TimePoint now = clock_.now();
  return peer.circuit().allows(now) && slot_of(shard).circuit.allows(now);
}

void Mirror::failed(Node* peer, const HomeRecord& owner, const Error& error) noexcept {
  Counters::count(counters_.mirror_failures);
  // A row that the peer refuses costs no time and says nothing about the next one.
  if (error.code() != ErrorCode::constraint && peer != nullptr) {
    const bool node_fails = error.code() == ErrorCode::unavailable ||
                            error.code() == ErrorCode::timeout ||
                            error.code() == ErrorCode::pool_exhausted;
    Circuit& circuit = node_fails ? peer->circuit() : slot_of(owner.shard).circuit;
    circuit.failed(clock_.now());
  }
  failure_log_.write(clock_, LogLevel::warning,
                     name_of(owner) + ": a write could not be mirrored to node '" + owner.peer +
                         "', its change log keeps it: " + error.what());
}

bool Mirror::log_is_too_long(Node& owner_node, const HomeName& home, const HomeRecord& owner,
                             TxMode mode) {
  const Deadline deadline = Deadline::after(clock_, timeout_);
  Begun begun = begin_in_home(owner_node.maintenance(), home, mode, deadline, deadline);
  const HomeRecord* record = begun.record;
  if (!record || record->role != Role::owner || !record->being_moved() ||
      !same_leg(*record, owner)) {
    return false;
  }
  HomeStore& store = begun.lease.store();
  // The distance between oldest and newest is at hand; what was deleted in between makes it too
  // large.
  const std::vector<Change> oldest = store.log_after(0, 1);
  if (oldest.empty() || store.log_head() - oldest.front().seq < log_rows_max_) return false;
  if (store.log_rows() <= log_rows_max_) return false;
  if (mode == TxMode::read) return true;

  // Nothing is noted from here on. What was noted is the migrator's to remove: it would take long.
  // By the move's id, which stays, it learns what has happened.
  HomeRecord alone = *record;
  alone.peer.clear();
  store.store_record(alone);
  store.session().commit();
  return true;
}

void Mirror::bound_log(Node& owner_node, const View& view, const HomeRecord& owner) noexcept {
  try {
    const HomeName home{view.topology().keyspace(), owner.shard};
    // First without a lock: nearly always the answer is no.
    if (!log_is_too_long(owner_node, home, owner, TxMode::read)) return;
    if (!log_is_too_long(owner_node, home, owner, TxMode::exclusive)) return;
    Counters::count(counters_.captures_given_up);
    log::error(name_of(owner) + ": the change log on node '" + owner_node.name() + "' grew past " +
               std::to_string(log_rows_max_) +
               " entries (move.change_log_rows_max), so its changes are no longer recorded for "
               "node '" +
               owner.peer + "': move " + owner.move_id +
               " can not go on, its copy there is out of date from now on; run `ringshard resume`");
  } catch (const std::exception& error) {
    failure_log_.write(
        clock_, LogLevel::warning,
        name_of(owner) + ": the length of its change log could not be checked: " + error.what());
  }
}

}  // namespace ringshard::router
