#include "mover/cutover.hpp"

#include <random>
#include <ringshard/error.hpp>

#include "core/row_hash.hpp"
#include "mover/lock_guard.hpp"
#include "mover/retry.hpp"
#include "support/fault.hpp"

namespace ringshard {
namespace {

/// Rounds of comparing outside the lock; each is shorter than the one before unless writers outrun
/// the comparison.
constexpr int certify_rounds_max = 10;

/// Unique to one attempt.
std::string new_certificate() {
  std::random_device random;
  return core::hex16(std::uint64_t{random()} << 32 | random());
}

void require_time(HomePair& pair, Deadline deadline) {
  if (deadline.passed(pair.clock()))
    throw Error(ErrorCode::timeout, "the cutover's pause budget ran out");
}

/// Statements of both sessions stop at the deadline for as long as this lives.
class StatementDeadline {
 public:
  StatementDeadline(HomePair& pair, Deadline deadline)
      : owner_(pair.owner().session()), mirror_(pair.mirror().session()) {
    owner_.set_statement_deadline(deadline);
    mirror_.set_statement_deadline(deadline);
  }
  StatementDeadline(const StatementDeadline&) = delete;
  StatementDeadline& operator=(const StatementDeadline&) = delete;
  ~StatementDeadline() {
    owner_.set_statement_deadline(Deadline());
    mirror_.set_statement_deadline(Deadline());
  }

 private:
  Session& owner_;
  Session& mirror_;
};

}  // namespace

std::int64_t Cutover::certify(const std::vector<Table>& tables, std::int64_t verified_seq,
                              VerifyReport& report) {
  for (int round = 0; round < certify_rounds_max; ++round) {
    const std::int64_t head = quiet_head(pair_, options_);
    tailer_.catch_up(head, between_);
    const VerifyReport found = verifier_.compare_changed(tables, verified_seq, head);
    report += found;
    if (!found.equal()) return verified_seq;
    verified_seq = head;
    if (verifier_.count_changed(tables, verified_seq, options_.cutover.changes_max / 2) <
        options_.cutover.changes_max / 2)
      break;
  }
  return verified_seq;
}

std::int64_t Cutover::drain(OwnerTransaction& owner, const std::string& certificate,
                            Deadline deadline) {
  std::vector<Change> changes = owner.store().log_after(0, options_.cutover.changes_max + 1);
  if (static_cast<std::int64_t>(changes.size()) > options_.cutover.changes_max)
    throw Error(ErrorCode::timeout, "more than " + std::to_string(options_.cutover.changes_max) +
                                        " changes are left to apply");
  const std::size_t waiting = changes.size();
  const std::vector<RowChange> rows = read_rows(owner.store(), changes, options_.chunk_bytes);
  if (changes.size() < waiting)
    throw Error(ErrorCode::timeout, "the changes left to apply are too large for one pause");
  const std::vector<Counter> counters = owner.store().dialect().counters(owner.store().session());

  // Committed even if nothing is left: this commit makes everything that was copied before it
  // durable at the mirror.
  MirrorTransaction mirror(pair_, TxMode::write, deadline);
  require_equal_definitions(owner.store(), mirror.store());
  require_whole_capture(owner.store());
  require_whole_capture(mirror.store());  // it is the one that records from now on
  require_portable_keys(pair_, mirror.store(), rows);
  mirror.store().apply(rows, UniqueConflict::evict);
  raise_counters(mirror.store().dialect(), mirror.store().session(), counters, pair_.form());
  HomeRecord certified = pair_.leg().mirror_record();
  certified.certificate = certificate;
  mirror.store().store_record(certified);
  mirror.commit();
  return static_cast<std::int64_t>(waiting);
}

std::vector<Cutover::Changed> Cutover::changed_since(const std::vector<Table>& tables,
                                                     std::int64_t seq) {
  std::vector<Changed> changed;
  std::int64_t left = options_.cutover.changes_max * 2;
  MirrorTransaction mirror(pair_, TxMode::read, Deadline());
  for (const Table& table : tables) {
    Changed& of_table = changed.emplace_back(Changed{&table, {}});
    for (Change& change : mirror.store().applied_after(table, pair_.leg().number, seq, left + 1))
      of_table.keys.push_back(std::move(change.key));
    left -= static_cast<std::int64_t>(of_table.keys.size());
    if (left < 0) throw Error(ErrorCode::timeout, "too many rows changed since they were compared");
  }
  return changed;
}

std::vector<Difference> Cutover::compare(OwnerTransaction& owner,
                                         const std::vector<Changed>& changed, Deadline deadline) {
  std::vector<Difference> differences;
  MirrorTransaction mirror(pair_, TxMode::read, Deadline());
  const auto digest = [&](HomeStore& store, const Changed& rows) {
    return store.dialect().digest(store.session(), *rows.table, rows.keys, pair_.form());
  };
  for (const Changed& rows : changed) {
    require_time(pair_, deadline);
    // Checksums first: they take a round trip a side, and rows can be large.
    if (rows.keys.empty() || digest(owner.store(), rows) == digest(mirror.store(), rows)) continue;
    for (const Row& key : rows.keys) {
      require_time(pair_, deadline);
      if (auto found = difference_of(*rows.table, key, owner.store().fetch(*rows.table, key),
                                     mirror.store().fetch(*rows.table, key), pair_.form()))
        differences.push_back(std::move(*found));
    }
  }
  return differences;
}

CutoverAttempt Cutover::attempt(const std::vector<Table>& tables, std::int64_t verified_seq) {
  CutoverAttempt result;
  HomeRecord decided = pair_.leg().next().mirror_record();
  Clock& clock = pair_.clock();
  TimePoint locked{};
  const auto held_us = [&] {
    return locked == TimePoint{}
               ? 0
               : std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - locked)
                     .count();
  };
  try {
    const TimePoint asked = clock.now();
    const Deadline deadline(asked + options_.cutover.pause_budget);
    LockGuard::Watch watch(deadline);
    OwnerTransaction owner(pair_, TxMode::exclusive,
                           Deadline::after(clock, options_.cutover.lock_timeout));
    // Writers may have been waiting behind this since it was asked for.
    locked = asked;
    const StatementDeadline stop_statements(pair_, deadline);
    fault::hit(FaultPoint::cutover_locked);

    decided.certificate = new_certificate();
    result.changes_applied = drain(owner, decided.certificate, deadline);
    fault::hit(FaultPoint::cutover_drained);

    const std::vector<Changed> changed = changed_since(tables, verified_seq);
    result.samples = compare(owner, changed, deadline);
    if (!result.samples.empty()) {
      result.result = CutoverResult::differences;
      result.reason = describe(result.samples.front());
      return result;
    }
    fault::hit(FaultPoint::cutover_compared);

    std::vector<std::int64_t> seqs;
    for (const Change& change : owner.store().log_after(0, options_.cutover.changes_max + 1))
      seqs.push_back(change.seq);
    owner.store().log_erase(seqs);
    owner.store().store_record(decided);
    owner.store().dialect().become_mirror(owner.store().session());
    require_time(pair_, deadline);
    owner.commit();  // the point of no return of this leg
  } catch (const Error& error) {
    result.pause_us = held_us();
    if (error.code() != ErrorCode::conflict && error.code() != ErrorCode::timeout) throw;
    result.reason = error.what();
    return result;
  }
  fault::hit(FaultPoint::cutover_decided);
  promote_new_owner(pair_, decided, options_);
  result.pause_us = held_us();
  result.result = CutoverResult::decided;
  fault::hit(FaultPoint::cutover_promoted);
  return result;
}

std::optional<HomeRecord> decided_handover(HomePair& pair) {
  HomeStore& store = pair.owner();
  SessionTransaction tx(store.session(), pair.home(), TxMode::read, Deadline());
  const bool decided = tx.record() && tx.record()->role == Role::mirror &&
                       tx.record()->move_id == pair.leg().move_id &&
                       tx.record()->leg == pair.leg().number + 1;
  return decided ? tx.record() : std::nullopt;
}

void promote_new_owner(HomePair& pair, const HomeRecord& decided, const MoveOptions& options) {
  retry_conflicts(pair.clock(), Deadline::after(pair.clock(), options.lock_wait), [&] {
    HomeStore& store = pair.mirror();
    SessionTransaction tx(store.session(), pair.home(), TxMode::exclusive,
                          Deadline::after(pair.clock(), options.cutover.lock_timeout));
    const LockGuard::Watch watch(pair.clock());
    if (store.promote(decided, pair.leg().owner)) return tx.commit();
    // A router was faster; anything else means that the home is not what the decision was about.
    const std::optional<HomeRecord>& found = tx.record();
    const std::string home =
        "home " + pair.home().str() + " on node '" + pair.leg().mirror + "' shall become the owner";
    if (found && found->role == Role::mirror && found->move_id == decided.move_id &&
        found->leg + 1 == decided.leg)
      throw Error(ErrorCode::refused,
                  home +
                      " and is not the copy that was certified when that was decided, it is "
                      "older: was its node restored from a backup? See `ringshard doctor`");
    if (!found || found->role != Role::owner || found->move_id != decided.move_id ||
        found->leg != decided.leg)
      throw Error(ErrorCode::refused,
                  home + " and says " + describe(found) + "; see `ringshard doctor`");
  });
}

}  // namespace ringshard
