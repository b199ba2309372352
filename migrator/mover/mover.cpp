#include "mover/mover.hpp"

#include <algorithm>
#include <ringshard/error.hpp>
#include <utility>

#include "mover/backfill.hpp"
#include "mover/capture.hpp"
#include "mover/cleanup.hpp"
#include "mover/cutover.hpp"
#include "mover/failover.hpp"
#include "mover/tailer.hpp"
#include "support/fault.hpp"
#include "support/log.hpp"

namespace ringshard {
namespace {

/// How often a running step looks whether an operator wants something else.
constexpr auto wish_interval = std::chrono::milliseconds(200);

/// Unwinds a step because of a wish, or because the stage was changed within it; caught where steps
/// are called.
struct StepEnded {};

Leg first_leg(const MoveRecord& move, std::string holder) {
  return Leg{
      HomeName{move.keyspace, move.shard}, move.id, std::move(holder), 1, move.source, move.target};
}

/// A router ended the capture, because nobody took the changes away: the owner says so by having no
/// peer any more.
bool capture_lost(HomePair& pair) {
  const std::optional<HomeRecord> record = find_record(pair.owner_backend(), pair.home());
  return record && record->role == Role::owner && record->peer.empty() &&
         record->move_id == pair.leg().move_id && record->leg == pair.leg().number;
}

/// What a home of the keyspace is made of in a kind of database.
HomeSchema home_schema(Catalog& catalog, const MoveRecord& move, std::string_view engine) {
  const std::optional<KeyspaceDefinition> keyspace = catalog.keyspace(move.keyspace);
  const auto found = keyspace->schemas.find(engine);
  if (found == keyspace->schemas.end())
    throw Error(ErrorCode::schema,
                "move " + move.id + " leads to another kind of database (" + std::string(engine) +
                    "), and it is not known what homes are made of there: name a file in "
                    "keyspace.schema, abort the move and plan it again");
  return found->second.home;
}

MoveOptions without_repair(MoveOptions options) {
  options.repair = false;
  return options;
}

[[noreturn]] void throw_differs(const MoveRecord& move) {
  throw Error(ErrorCode::differs,
              "move " + move.id + ": the two homes of shard " + std::to_string(move.shard.value) +
                  " differ; `ringshard resume --repair` makes the mirror equal, `ringshard abort` "
                  "gives the move up")
      .with_shard(move.shard);
}

}  // namespace

struct Mover::Run {
  MoveRecord move;
  Lease lease;
  HomePair forward;   // leg 1: source owns
  HomePair observed;  // leg 2: target owns
  HomePair returned;  // leg 3: source owns again
  TimePoint wish_seen;

  Run(Catalog& catalog, Nodes& nodes, const MoveOptions& options, MoveRecord record,
      std::string holder)
      : move(std::move(record)),
        lease(catalog, nodes.clock(), move.id, std::move(holder), options.lease),
        forward(nodes, first_leg(move, lease.holder())),
        observed(nodes, forward.leg().next()),
        returned(nodes, observed.leg().next()),
        wish_seen(nodes.clock().now()) {}
};

MoveRecord Mover::run(const std::string& move_id, std::string holder) {
  std::optional<MoveRecord> move = catalog_.move(move_id);
  if (!move) throw Error(ErrorCode::not_found, "there is no move '" + move_id + "'");
  if (is_final(move->stage)) return *move;
  if (move->source == move->target)
    throw Error(ErrorCode::refused, "move " + move_id + " would move a shard to its own node");
  Run run(catalog_, nodes_, options_, *move, std::move(holder));
  // What was read before the lease was taken may have been changed by the one who had it.
  run.move = *catalog_.move(move_id);
  try {
    go_on(run);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::lease_lost) throw;
    run.move.error = error.what();
    try {
      catalog_.store_progress(run.move, run.lease.holder());
    } catch (const Error& second) {
      log::warning("move " + move_id + ": its failure could not be stored: " + second.what());
    }
    // Every step looks first at what is there, so whether the last one happened is of no matter.
    if (error.outcome_unknown())
      throw Error(ErrorCode::unavailable, error.what()).with_shard(run.move.shard);
    throw;
  }
  return run.move;
}

void Mover::go_on(Run& run) {
  // What failed before is tried again now; why a move is being taken back stays with it.
  if (run.move.stage != MoveStage::reverting) run.move.error.clear();
  const bool giving_up =
      run.move.stage == MoveStage::reverting ||
      (can_abort(run.move.stage) && catalog_.wish_of(run.move.id) == MoveWish::abort);
  if (!is_final(run.move.stage)) claim_homes(run.forward, options_, giving_up);
  while (!is_final(run.move.stage)) {
    const MoveStage before = run.move.stage;
    try {
      obey_wish(run);
      step(run);
    } catch (const StepEnded&) {
      continue;  // a wish is obeyed at the top
    } catch (const Error& error) {
      if (error.code() != ErrorCode::refused || !revert_if_capture_lost(run)) throw;
      continue;
    }
    if (run.move.stage == before && before == MoveStage::observing) return;
  }
}

bool Mover::revert_if_capture_lost(Run& run) {
  if (!can_abort(run.move.stage) || !capture_lost(run.forward)) return false;
  run.move.error =
      "routers ended the capture, because nobody took the changes away before their log was full";
  log::error("move " + run.move.id + ": " + run.move.error);
  store(run, MoveStage::reverting);
  return true;
}

void Mover::heed_failover(Run& run, HomePair& pair) {
  ringshard::heed_failover(pair, options_, [&] {
    run.move.verified_seq = 0;
    if (run.move.stage == MoveStage::ready) store(run, MoveStage::verifying);
  });
}

void Mover::step(Run& run) {
  // A catalog that was restored from an older copy: what the homes say leads on.
  if (can_abort(run.move.stage) && decided_handover(run.forward)) return cut_over(run);
  const bool mirrors = can_abort(run.move.stage) && run.move.stage != MoveStage::planned &&
                       run.move.stage != MoveStage::reverting;
  if (mirrors) heed_failover(run, run.forward);
  switch (run.move.stage) {
    case MoveStage::planned:
      return begin_mirroring(run);
    case MoveStage::mirroring:
      return store(run, MoveStage::backfilling);
    case MoveStage::backfilling:
      return backfill(run);
    case MoveStage::verifying:
      return verify_tables(run);
    case MoveStage::ready:
      return cut_over(run);
    case MoveStage::cut_over:
      run.move.observe_until_ms = nodes_.clock().unix_ms() + options_.observe_for.count();
      return store(run, MoveStage::observing);
    case MoveStage::observing:
      return observe(run);
    case MoveStage::cleaning:
      return clean(run);
    case MoveStage::reverting:
      return revert(run);
    case MoveStage::rolling_back:
      return roll_back(run);
    case MoveStage::done:
    case MoveStage::reverted:
    case MoveStage::rolled_back:
      return;
  }
}

void Mover::obey_wish(Run& run) {
  if (stopped_ && stopped_())
    throw Error(ErrorCode::cancelled, "move " + run.move.id +
                                          " was stopped between two steps, as asked; `ringshard "
                                          "resume` goes on");
  switch (catalog_.wish_of(run.move.id)) {
    case MoveWish::none:
    case MoveWish::roll_back:
    case MoveWish::finalize:
      return;  // observe() looks at the last two
    case MoveWish::pause:
      throw Error(ErrorCode::cancelled,
                  "move " + run.move.id + " is paused; `ringshard resume` goes on");
    case MoveWish::abort:
      // A handover that was decided before the wish came is carried out: there is no way back from
      // it but a rollback.
      if (can_abort(run.move.stage) && !decided_handover(run.forward))
        store(run, MoveStage::reverting);
      return;
  }
}

void Mover::between_steps(Run& run) {
  run.lease.hold();
  if (stopped_ && stopped_()) throw StepEnded{};
  const TimePoint now = nodes_.clock().now();
  if (now - run.wish_seen < wish_interval) return;
  run.wish_seen = now;
  const MoveWish wish = catalog_.wish_of(run.move.id);
  if (wish == MoveWish::pause) throw StepEnded{};
  if (wish == MoveWish::abort && can_abort(run.move.stage)) throw StepEnded{};
  if (wish == MoveWish::finalize && run.move.stage == MoveStage::rolling_back) throw StepEnded{};
}

void Mover::between_tails(Run& run, HomePair& pair) {
  between_steps(run);
  if (can_abort(run.move.stage)) check_log(run, pair);
}

void Mover::store(Run& run, MoveStage next, const std::optional<std::string>& placement) {
  run.lease.hold();
  MoveRecord stored = run.move;
  stored.stage = next;
  if (const auto point = before(next)) fault::hit(*point);
  catalog_.store_stage(stored, run.move.stage, run.lease.holder(), placement);
  run.move = stored;
  if (placement) fault::hit(FaultPoint::placement_stored);
  if (const auto point = after(next)) fault::hit(*point);
  observer_.stage_stored(run.move);
}

void Mover::begin_mirroring(Run& run) {
  std::optional<HomeSchema> foreign;
  if (run.forward.form() == RowForm::portable)
    foreign = home_schema(catalog_, run.move, run.forward.mirror_backend().dialect().engine());
  start_capture(run.forward, foreign, options_);
  store(run, MoveStage::mirroring);
}

void Mover::backfill(Run& run) {
  Backfill copy(run.forward, options_);
  Tailer tailer(run.forward, options_);
  // Counted anew on each run: chunks that an earlier run copied are not in it.
  std::int64_t rows = run.move.rows_copied;
  for (const Table& table : common_tables(run.forward)) {
    for (bool complete = false; !complete;) {
      const BackfillStep done = copy.copy_chunk(table);
      complete = done.table_complete;
      rows += done.rows;
      run.move.rows_copied = rows;
      observer_.progress(run.move, rows);
      tailer.step();
      between_tails(run, run.forward);
    }
  }
  tailer.catch_up(tailer.head(), [&] { between_tails(run, run.forward); });
  run.move.changes_applied += tailer.applied_total();
  store(run, MoveStage::verifying);
}

void Mover::check_log(Run& run, HomePair& pair) {
  Tailer tailer(pair, options_);
  const std::int64_t waiting = tailer.backlog();
  if (waiting <= options_.change_log_rows_max) return;
  run.move.error = "the change log of " + pair.home().str() + " grew to " +
                   std::to_string(waiting) + " entries, more than change_log_rows_max; reverting";
  log::error("move " + run.move.id + ": " + run.move.error);
  store(run, MoveStage::reverting);
  throw StepEnded{};
}

VerifyReport Mover::compare_all(Run& run, HomePair& pair, std::int64_t& verified_seq,
                                const std::function<void()>& between) {
  Tailer tailer(pair, options_);
  const std::vector<Table> tables = common_tables(pair);
  const auto compare = [&](const MoveOptions& options) {
    verified_seq = quiet_head(pair, options);
    tailer.catch_up(verified_seq, between);
    return Verifier(pair, tailer, options, between)
        .compare_tables(
            tables, [&](const VerifyReport& so_far) { observer_.progress(run.move, so_far.rows); });
  };
  VerifyReport report = compare(options_);
  // What was written need not be what was meant: a database may not be able to hold the value, or
  // the row may have put another one out of its place. Only a comparison that mends nothing counts.
  if (report.repaired > 0) {
    VerifyReport again = compare(without_repair(options_));
    if (!again.equal()) report = std::move(again);
  }
  run.move.changes_applied += tailer.applied_total();
  run.move.rows_verified = report.rows;
  // Sticky: that nothing is found any more does not tell why something was.
  const bool kept = run.move.differences_found && !options_.repair;
  run.move.differences_found = kept || !report.equal();
  observer_.verified(run.move, report);
  for (const Difference& difference : report.samples)
    log::warning("move " + run.move.id + ": " + describe(difference) +
                 (report.equal() ? " (repaired)" : ""));
  return report;
}

void Mover::verify_tables(Run& run) {
  if (run.move.differences_found && !options_.repair) throw_differs(run.move);
  std::int64_t verified_seq = 0;
  const auto between = [&] { between_tails(run, run.forward); };
  if (!compare_all(run, run.forward, verified_seq, between).equal()) throw_differs(run.move);
  run.move.verified_seq = verified_seq;
  store(run, MoveStage::ready);
}

void Mover::hand_over(Run& run, HomePair& pair) {
  Tailer tailer(pair, options_);
  const auto between = [&] { between_tails(run, pair); };
  // A row that is repaired here would not be compared again.
  const MoveOptions strict = without_repair(options_);
  Verifier verifier(pair, tailer, strict, between);
  Cutover cutover(pair, tailer, verifier, strict, between);
  const std::vector<Table> tables = common_tables(pair);
  Duration delay = options_.cutover.retry_delay;
  std::string reason;
  for (int attempt = 0; attempt < options_.cutover.attempts_max; ++attempt) {
    between_steps(run);
    VerifyReport certified;
    run.move.verified_seq = cutover.certify(tables, run.move.verified_seq, certified);
    if (!certified.equal()) {
      observer_.verified(run.move, certified);
      run.move.differences_found = true;
      return;
    }
    run.lease.hold();
    ++run.move.cutover_attempts;
    const CutoverAttempt tried = cutover.attempt(tables, run.move.verified_seq);
    run.move.pause_us = std::max(run.move.pause_us, tried.pause_us);
    run.move.changes_applied += tried.changes_applied;
    switch (tried.result) {
      case CutoverResult::decided:
        return;
      case CutoverResult::differences:
        log::warning("move " + run.move.id + ": under the cutover's lock " + tried.reason);
        run.move.differences_found = true;
        return;
      case CutoverResult::try_again:
        reason = tried.reason;
        log::info("move " + run.move.id + ": cutover put off: " + reason);
        nodes_.clock().sleep_for(delay);
        delay = std::min(delay * 2, options_.cutover.retry_delay * 10);
        break;
    }
  }
  throw Error(ErrorCode::conflict, "move " + run.move.id + ": no cutover within its budget in " +
                                       std::to_string(options_.cutover.attempts_max) +
                                       " attempts; the last one: " + reason);
}

void Mover::cut_over(Run& run) {
  if (const auto decided = decided_handover(run.forward)) {
    promote_new_owner(run.forward, *decided, options_);
  } else {
    // Somebody looked meanwhile and found what must not be cut over.
    if (run.move.differences_found) return store(run, MoveStage::verifying);
    hand_over(run, run.forward);
    if (run.move.differences_found) {
      store(run, MoveStage::verifying);
      throw_differs(run.move);
    }
  }
  run.move.verified_seq = 0;
  store(run, MoveStage::cut_over, run.move.target);
}

void Mover::observe(Run& run) {
  const MoveWish wish = catalog_.wish_of(run.move.id);
  if (capture_lost(run.observed)) {
    run.move.error = "the way back is lost: nobody took the changes away before their log was full";
    log::error("move " + run.move.id + ": " + run.move.error);
    return store(run, MoveStage::cleaning);
  }
  if (wish == MoveWish::roll_back) return store(run, MoveStage::rolling_back);
  if (wish == MoveWish::finalize || nodes_.clock().unix_ms() >= run.move.observe_until_ms)
    store(run, MoveStage::cleaning);
}

void Mover::clean(Run& run) {
  remove_mirror(catalog_, run.observed, options_, run.move.target);
  store(run, MoveStage::done);
}

void Mover::revert(Run& run) {
  remove_mirror(catalog_, run.forward, options_, run.move.source);
  store(run, MoveStage::reverted);
}

void Mover::roll_back(Run& run) {
  const std::optional<HomeRecord> source =
      find_record(nodes_.at(run.move.source), run.forward.home());
  const bool waits = source && source->role == Role::mirror;
  // Otherwise it has been handed over to already, in the leg after the observed one, or is at rest.
  const bool has_it = source && source->role == Role::owner &&
                      (source->move_id.empty() || source->leg == run.returned.leg().number);
  if (!waits && !has_it)
    throw Error(ErrorCode::refused,
                "move " + run.move.id + ": home " + run.forward.home().str() + " on node '" +
                    run.move.source + "' says " + describe(source) +
                    ", and to roll back to it, it has to be the mirror of this move: was its "
                    "database set back? `ringshard doctor` shows who owns the shard; nothing was "
                    "changed")
        .with_shard(run.move.shard);
  const std::optional<HomeRecord> decided = waits ? decided_handover(run.observed) : std::nullopt;
  const bool undecided = waits && !decided;
  // The way back may have become impossible, by a change of the tables: the move has to end.
  if (undecided && catalog_.wish_of(run.move.id) == MoveWish::finalize)
    return store(run, MoveStage::observing);
  if (undecided) {
    if (capture_lost(run.observed)) {
      run.move.error = "the way back is lost: the change log was full";
      store(run, MoveStage::observing);
      throw Error(ErrorCode::refused, "move " + run.move.id + ": " + run.move.error +
                                          "; `ringshard finalize` ends it at the target");
    }
    heed_failover(run, run.observed);
    if (run.move.differences_found && !options_.repair) throw_differs(run.move);
    std::int64_t verified_seq = 0;
    const auto between = [&] { between_tails(run, run.observed); };
    if (!compare_all(run, run.observed, verified_seq, between).equal()) throw_differs(run.move);
    run.move.verified_seq = verified_seq;
    hand_over(run, run.observed);
    if (run.move.differences_found) throw_differs(run.move);
  } else if (decided) {
    promote_new_owner(run.observed, *decided, options_);
  }
  store(run, MoveStage::rolling_back, run.move.source);
  remove_mirror(catalog_, run.returned, options_, run.move.source);
  store(run, MoveStage::rolled_back);
}

VerifyReport Mover::verify(const std::string& move_id) {
  const std::optional<MoveRecord> move = catalog_.move(move_id);
  if (!move) throw Error(ErrorCode::not_found, "there is no move '" + move_id + "'");
  Run run(catalog_, nodes_, options_, *move, make_holder_name());
  run.move = *catalog_.move(move_id);
  const bool forward = run.move.stage == MoveStage::verifying || run.move.stage == MoveStage::ready;
  const bool back =
      run.move.stage == MoveStage::observing || run.move.stage == MoveStage::rolling_back;
  if (!forward && !back)
    throw Error(ErrorCode::refused, "move " + move_id + " is " +
                                        std::string(to_string(run.move.stage)) +
                                        ": its two homes are not both complete now");
  claim_homes(run.forward, options_);
  std::int64_t verified_seq = 0;
  // The stage is not this caller's to change: only the lease is kept.
  const VerifyReport report = compare_all(run, forward ? run.forward : run.observed, verified_seq,
                                          [&] { run.lease.hold(); });
  catalog_.store_progress(run.move, run.lease.holder());
  return report;
}

}  // namespace ringshard
