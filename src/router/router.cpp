#include "router/router.hpp"

#include <algorithm>
#include <exception>
#include <ringshard/error.hpp>
#include <string>
#include <utility>

#include "router/open_transaction.hpp"
#include "support/fault.hpp"
#include "support/log.hpp"

namespace ringshard::router {

namespace {

// How long one look for a newer topology may hold up a call that found no owner: the home itself
// may become the owner at any moment.
constexpr Duration refresh_wait_max{250};

constexpr std::int32_t scatter_threads_max = 64;

BackendOpener opener_of(const Config& config, const ClusterOptions& options, Clock& clock) {
  if (options.open_backend) return options.open_backend;
  return [backend_options = to_backend_options(config),
          &clock](const std::string& dsn) -> std::shared_ptr<Backend> {
    return open_backend(dsn, clock, backend_options);
  };
}

// Errors after which an attempt may be made again, given that nothing of it has remained.
bool is_passing(ErrorCode code) noexcept {
  return code == ErrorCode::conflict || code == ErrorCode::pool_exhausted ||
         code == ErrorCode::unavailable || code == ErrorCode::not_owner;
}

// A fault point behind the commit: the write is done and has to be acknowledged whatever a test
// does there.
void hit_after_commit(FaultPoint point) noexcept {
  try {
    fault::hit(point);
  } catch (const std::exception& error) {
    log::warning(std::string("after a commit: ") + error.what());
  }
}

}  // namespace

Router::Router(const Config& config, const ClusterOptions& options)
    : config_(config),
      clock_(options.clock != nullptr ? *options.clock : system_clock()),
      search_(clock_, counters_),
      feed_(config_, opener_of(config_, options, clock_), clock_, counters_),
      mirror_(config_, clock_, feed_, counters_),
      threads_left_(scatter_threads_max) {}

void Router::refresh() { feed_.refresh(deadline_of(std::nullopt)); }

Deadline Router::deadline_of(const std::optional<std::chrono::milliseconds>& chosen) const {
  return Deadline::after(clock_, chosen.value_or(config_.router.deadline));
}

template <class Attempt>
void Router::with_retries(ShardId shard, const Limits& limits, const Attempt& attempt) {
  feed_.view()->topology().node_of(shard);  // a shard that there is not is the caller's mistake
  Retry retry(shard, limits, clock_, counters_);
  while (true) {
    Phase phase = Phase::begin;
    std::optional<Error> failure;
    try {
      return attempt(phase);
    } catch (Error& error) {
      // Out of the caller's function, a conflict of the session itself has been told from the
      // caller's own errors.
      if (!is_passing(error.code()) || phase == Phase::work) {
        if (!error.shard() && phase != Phase::work) error.with_shard(shard);
        throw;
      }
      failure = error;
    }
    prepare_next(*failure, limits.deadline);
    retry.wait_after(*failure);
  }
}

// What the next attempt should know.
void Router::prepare_next(const Error& error, Deadline deadline) noexcept {
  try {
    if (error.code() == ErrorCode::not_owner) {
      feed_.refresh(earlier(deadline, Deadline::after(clock_, refresh_wait_max)));
    } else if (error.code() == ErrorCode::unavailable) {
      feed_.nudge();
    }
  } catch (const std::exception&) {
    // The catalog is away or slow: the homes may still give the answer.
  }
}

void Router::write(ShardId shard, const WriteWork& work, const TransactOptions& options) {
  const Limits limits{.deadline = deadline_of(options.deadline),
                      .attempts_max = options.attempts_max};
  with_retries(shard, limits,
               [&](Phase& phase) { write_once(shard, work, limits.deadline, phase); });
}

void Router::write_once(ShardId shard, const WriteWork& work, Deadline deadline, Phase& phase) {
  const std::shared_ptr<const View> view = feed_.view();
  HomeTransaction home = search_.begin(view, shard, TxMode::write, deadline);
  fault::hit(FaultPoint::write_locked);
  std::optional<Mirror::Write> mirrored;
  if (home.record()->being_moved()) mirrored.emplace(mirror_, view, *home.record(), home.store());

  detail::OpenTransaction open{home.session(), shard};
  phase = Phase::work;
  try {
    Transaction tx(open);
    work(tx);
  } catch (const Error& error) {
    if (open.conflict && error.code() == ErrorCode::conflict) phase = Phase::begin;
    throw;
  }
  phase = Phase::commit;
  if (mirrored) mirrored->collect();
  commit(home, shard);
  Counters::count(counters_.writes);
  Node& owner = home.node();
  home.end();  // the connection is free while the peer is written to
  if (!mirrored) return hit_after_commit(FaultPoint::write_committed);
  mirrored->send(owner);
  hit_after_commit(FaultPoint::write_mirrored);
}

void Router::commit(HomeTransaction& home, ShardId shard) {
  std::string why;
  if (home.session().in_transaction()) {
    try {
      return home.session().commit();
    } catch (const Error& error) {
      // A COMMIT that is refused as a statement: there was nothing to commit.
      if (error.code() != ErrorCode::sql) throw;
      why = error.what();
    }
  } else {
    why = "it was not open any more";
  }
  home.discard();
  throw Error(
      ErrorCode::outcome_unknown,
      "shard " + std::to_string(shard.value) +
          ": the transaction was ended inside the function that was given to transact(), by "
          "the function or by the database after an error that the function kept: let "
          "errors pass, and end no transaction through SQL or the native handle (" +
          why + ")")
      .with_shard(shard);
}

void Router::read(ShardId shard, const ReadWork& work, const TransactOptions& options) {
  read(shard, work,
       Limits{.deadline = deadline_of(options.deadline), .attempts_max = options.attempts_max});
}

void Router::read(ShardId shard, const ReadWork& work, const Limits& limits) {
  with_retries(shard, limits,
               [&](Phase& phase) { read_once(shard, work, limits.deadline, phase); });
}

void Router::read_once(ShardId shard, const ReadWork& work, Deadline deadline, Phase& phase) {
  const std::shared_ptr<const View> view = feed_.view();
  HomeTransaction home = search_.begin(view, shard, TxMode::read, deadline);
  detail::OpenTransaction open{home.session(), shard};
  phase = Phase::work;
  try {
    ReadTransaction tx(open);
    work(tx);
  } catch (const Error& error) {
    if (open.conflict && error.code() == ErrorCode::conflict) phase = Phase::begin;
    throw;
  }
  Counters::count(counters_.reads);
}

bool Router::read_unchecked(ShardId shard, const ReadWork& work, Deadline deadline) {
  const std::shared_ptr<const View> view = feed_.view();
  view->topology().node_of(shard);
  std::optional<HomeTransaction> home;
  try {
    home.emplace(search_.begin_at(view, view->place_of(shard), shard, TxMode::read, deadline));
  } catch (const Error& error) {
    if (is_passing(error.code()) || error.code() == ErrorCode::not_found) return false;
    throw;
  }
  // The mirror of a first leg is a copy in the making: it may lack rows that have always been
  // there.
  const HomeRecord* record = home->record();
  if (!record || (record->role == Role::mirror && record->leg <= 1)) {
    home->discard();
    return false;
  }
  detail::OpenTransaction open{home->session(), shard};
  ReadTransaction tx(open);
  work(tx);
  Counters::count(counters_.reads);
  return true;
}

std::uint32_t Router::borrow_threads(std::uint32_t wanted) noexcept {
  std::int32_t left = threads_left_.load();
  std::int32_t taken = 0;
  do {
    taken = std::min(left, static_cast<std::int32_t>(std::min<std::uint32_t>(wanted, 1'024)));
  } while (!threads_left_.compare_exchange_weak(left, left - taken));
  return static_cast<std::uint32_t>(taken);
}

void Router::return_threads(std::uint32_t count) noexcept {
  threads_left_.fetch_add(static_cast<std::int32_t>(count));
}

}  // namespace ringshard::router
