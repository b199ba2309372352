#include "mover/capture.hpp"

#include <ringshard/error.hpp>

#include "backend/portable/portable.hpp"
#include "mover/lock_guard.hpp"
#include "mover/retry.hpp"
#include "support/fault.hpp"
#include "support/log.hpp"

namespace ringshard {
namespace {

Deadline lock_deadline(HomePair& pair, const MoveOptions& options) {
  return Deadline::after(pair.clock(), options.cutover.lock_timeout);
}

Deadline step_deadline(HomePair& pair, const MoveOptions& options) {
  return Deadline::after(pair.clock(), options.lock_wait);
}

/// An owner that no move has touched, or this one has.
void require_owner_for(const std::optional<HomeRecord>& record, const Leg& leg) {
  const bool usable = record && record->role == Role::owner &&
                      (record->move_id.empty() || record->move_id == leg.move_id);
  if (!usable)
    throw Error(ErrorCode::refused, "home " + leg.home.str() + " on node '" + leg.owner +
                                        "' says " + describe(record) +
                                        ", expected an owner; see `ringshard doctor`");
}

/// The tables of the two sides fit together, where the definitions can not be the same.
void require_fitting(const HomeSchema& owner, const HomeSchema& mirror, const std::string& home) {
  std::string reasons;
  for (const Obstacle& obstacle : portable::obstacles(owner, mirror))
    reasons += "\n  " + obstacle.object + ": " + obstacle.reason;
  if (!reasons.empty())
    throw Error(ErrorCode::schema, "home " + home +
                                       " can not be moved to another kind of database with the "
                                       "schema that keyspace.schema has for it:" +
                                       reasons);
}

/// `schema`: the owner's; `made_of`: what makes its tables there.
void create_target(HomePair& pair, const HomeSchema& schema, const HomeSchema& made_of,
                   const MoveOptions& options) {
  const Leg& leg = pair.leg();
  Backend& backend = pair.mirror_backend();
  // One left by an attempt that was broken off goes. What was mirrored into it is in the change log
  // still.
  std::optional<HomeRecord> found;
  const auto is_left_by_this = [&](const std::optional<HomeRecord>& record) {
    found = record;
    return record && record->role == Role::mirror && record->move_id == leg.move_id;
  };
  pair.disconnect();
  if (!backend.drop_home_if(leg.home, is_left_by_this, step_deadline(pair, options)))
    throw Error(ErrorCode::refused, "home " + leg.home.str() + " exists on node '" + leg.mirror +
                                        "' and says " + describe(found) +
                                        "; see `ringshard doctor`");
  backend.create_home(leg.home, leg.mirror_record(), made_of);
  MirrorTransaction tx(pair, TxMode::exclusive, Deadline());
  const HomeSchema made = backend.dialect().describe_schema(tx.store().session());
  if (pair.form() == RowForm::portable) require_fitting(schema, made, leg.home.str());
  backend.dialect().install_capture(tx.store().session(), made);
  tx.commit();
}

}  // namespace

HomeSchema movable_schema(HomePair& pair) {
  HomeStore& store = pair.owner();
  SessionTransaction tx(store.session(), pair.home(), TxMode::read, Deadline());
  require_owner_for(tx.record(), pair.leg());
  HomeSchema schema = store.dialect().describe_schema(store.session());
  std::string reasons;
  for (const Obstacle& obstacle : store.dialect().obstacles(store.session(), schema))
    reasons += "\n  " + obstacle.object + ": " + obstacle.reason;
  if (!reasons.empty())
    throw Error(ErrorCode::schema, "home " + pair.home().str() + " on node '" + pair.leg().owner +
                                       "' can not be moved:" + reasons)
        .with_shard(*pair.home().shard);
  return schema;
}

void start_capture(HomePair& pair, const std::optional<HomeSchema>& foreign,
                   const MoveOptions& options) {
  const HomeSchema schema = movable_schema(pair);
  create_target(pair, schema, foreign.value_or(schema), options);
  fault::hit(FaultPoint::target_created);

  retry_conflicts(pair.clock(), step_deadline(pair, options), [&] {
    HomeStore& store = pair.owner();
    SessionTransaction tx(store.session(), pair.home(), TxMode::exclusive,
                          lock_deadline(pair, options));
    const LockGuard::Watch watch(pair.clock());
    require_owner_for(tx.record(), pair.leg());
    const HomeSchema now = store.dialect().describe_schema(store.session());
    if (const auto differs = difference(schema, now))
      throw Error(ErrorCode::schema, "the tables of home " + pair.home().str() +
                                         " were changed while its move began: " + *differs +
                                         "; run `ringshard resume`");
    store.dialect().install_capture(store.session(), schema);
    store.store_record(pair.leg().owner_record());
    tx.commit();
  });
  fault::hit(FaultPoint::capture_installed);
}

void end_capture(HomeStore& store, const HomeName& home, Clock& clock, const MoveOptions& options,
                 const std::function<void(const std::optional<HomeRecord>&)>& require) {
  // Few enough that writers behind the lock do not notice.
  constexpr std::int64_t rows_at_once = 5'000;
  const auto under_lock = [&](const auto& step) {
    return retry_conflicts(clock, Deadline::after(clock, options.lock_wait), [&] {
      SessionTransaction tx(store.session(), home, TxMode::exclusive,
                            Deadline::after(clock, options.cutover.lock_timeout));
      const LockGuard::Watch watch(clock);
      require(tx.record());
      const bool done = step(*tx.record());
      tx.commit();
      return done;
    });
  };
  under_lock([&](HomeRecord record) {
    record.peer.clear();  // from here on nothing is noted; the move's id still says whose this is
    store.store_record(record);
    return true;
  });
  retry_conflicts(clock, Deadline::after(clock, options.lock_wait), [&] {
    SessionTransaction tx(store.session(), home, TxMode::write,
                          Deadline::after(clock, options.cutover.lock_timeout));
    require(tx.record());
    store.dialect().settle(store.session());
    tx.commit();
  });
  const auto remove_some = [&](const HomeRecord&) {
    if (!store.dialect().remove_capture(store.session(), rows_at_once)) return false;
    HomeRecord at_rest;
    at_rest.keyspace = home.keyspace;
    at_rest.shard = *home.shard;
    store.store_record(at_rest);
    return true;
  };
  while (!under_lock(remove_some)) fault::hit(FaultPoint::capture_shrunk);
}

void stop_capture(HomePair& pair, const MoveOptions& options) {
  end_capture(
      pair.owner(), pair.home(), pair.clock(), options,
      [&](const std::optional<HomeRecord>& record) { require_owner_for(record, pair.leg()); });
  fault::hit(FaultPoint::capture_removed);
}

namespace {

void claim_home(HomePair& pair, HomeStore& store, const std::string& node,
                const MoveOptions& options) {
  const Leg& leg = pair.leg();
  retry_conflicts(pair.clock(), step_deadline(pair, options), [&] {
    SessionTransaction tx(store.session(), leg.home, TxMode::exclusive,
                          lock_deadline(pair, options));
    const LockGuard::Watch watch(pair.clock());
    if (!tx.record() || tx.record()->move_id.empty()) return;
    if (tx.record()->move_id != leg.move_id)
      throw Error(ErrorCode::refused, "home " + leg.home.str() + " on node '" + node + "' says " +
                                          describe(tx.record()) +
                                          "; that move has to end first: see `ringshard doctor`");
    HomeRecord claimed = *tx.record();
    if (claimed.mover == leg.mover) return;
    claimed.mover = leg.mover;
    store.store_record(claimed);
    tx.commit();
  });
}

}  // namespace

void claim_homes(HomePair& pair, const MoveOptions& options, bool giving_up) {
  if (pair.owner_backend().home_exists(pair.home()))
    claim_home(pair, pair.owner(), pair.leg().owner, options);
  try {
    if (pair.mirror_backend().home_exists(pair.home()))
      claim_home(pair, pair.mirror(), pair.leg().mirror, options);
  } catch (const Error& error) {
    const bool out_of_order =
        error.code() == ErrorCode::unavailable || error.code() == ErrorCode::not_found ||
        error.code() == ErrorCode::storage_full || error.code() == ErrorCode::read_only;
    if (!giving_up || !out_of_order) throw;
    log::warning("move " + pair.leg().move_id +
                 ": is given up although its target is out of order: " + error.what());
    pair.disconnect();
  }
}

}  // namespace ringshard
