#include "migrator/commands/move_runner.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <ringshard/error.hpp>
#include <thread>

#include "catalog/catalog.hpp"
#include "mover/mover.hpp"
#include "mover/nodes.hpp"
#include "setup/setup.hpp"

namespace ringshard::cli {
namespace {

/// How often the main thread looks whether it was asked to stop.
constexpr auto stop_interval = std::chrono::milliseconds(50);

Error as_error(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return *error;
  return Error(ErrorCode::internal, exception.what());
}

class Runner {
 public:
  Runner(const Config& config, const std::vector<MoveRecord>& moves, const MoveOptions& options,
         Context& context, ProgressView& view)
      : config_(config), options_(options), context_(context), view_(view) {
    for (const MoveRecord& move : moves) {
      ids_.push_back(move.id);
      outcomes_.push_back({move, std::nullopt, {}});
    }
    waiting_ = ids_;
  }

  std::vector<MoveOutcome> run() {
    std::vector<std::thread> workers;
    working_ = std::clamp<std::size_t>(config_.move.concurrency, 1,
                                       std::max<std::size_t>(outcomes_.size(), 1));
    for (std::size_t i = working_; i > 0; --i) workers.emplace_back([this] { work(); });
    wait();
    for (std::thread& worker : workers) worker.join();
    return std::move(outcomes_);
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, stop_interval, [this] { return working_ == 0; })) {
      if (stop_is_said_ || !context_.stopped()) continue;
      stop_is_said_ = true;
      view_.say("stopping between two steps; `ringshard resume` goes on");
    }
  }

  std::vector<std::string> waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

  /// False if another worker of this process has it.
  bool take(const std::string& id) {
    const std::lock_guard lock(mutex_);
    return std::erase(waiting_, id) == 1;
  }

  /// A move that nobody runs, whose lease `holder` has then. When there is none left, one that
  /// another migrator runs, or whose lease could not be had: that is said when it is tried.
  std::optional<std::string> next(std::optional<Catalog>& catalog, const std::string& holder) {
    for (;;) {
      const std::vector<std::string> ids = waiting();
      if (ids.empty()) return std::nullopt;
      std::string id = ids.front();
      try {
        if (!catalog) catalog = Catalog::open(config_.catalog, context_.clock);
        if (auto leased = catalog->lease_next(ids, holder, options_.lease)) id = *leased;
      } catch (const Error&) {
        catalog.reset();
      }
      if (take(id)) return id;
    }
  }

  void work() {
    std::optional<Catalog> catalog;
    std::optional<Nodes> nodes;
    for (;;) {
      const std::string holder = make_holder_name();
      const auto id = next(catalog, holder);
      if (!id) break;
      const auto index = static_cast<std::size_t>(std::ranges::find(ids_, *id) - ids_.begin());
      run_one(*id, holder, outcomes_[index], catalog, nodes);
    }
    const std::lock_guard lock(mutex_);
    --working_;
    ended_.notify_all();
  }

  void run_one(const std::string& id, const std::string& holder, MoveOutcome& outcome,
               std::optional<Catalog>& catalog, std::optional<Nodes>& nodes) {
    try {
      if (context_.stopped()) {
        if (catalog) catalog->release_lease(id, holder);
        throw Error(ErrorCode::cancelled,
                    "move " + id + " was not begun, as asked; `ringshard resume` goes on");
      }
      if (!catalog) catalog = Catalog::open(config_.catalog, context_.clock);
      if (!nodes)
        nodes.emplace(catalog->nodes(outcome.move.keyspace), context_.clock,
                      to_backend_options(config_));
      ObserverForView observer(view_);
      Mover mover(*catalog, *nodes, options_, observer, [this] { return context_.stopped(); });
      try {
        outcome.move = mover.run(id, holder);
      } catch (...) {
        outcome.verified = observer.last_report();
        throw;
      }
      outcome.verified = observer.last_report();
    } catch (const std::exception& exception) {
      outcome.error = as_error(exception);
    }
    try {
      if (catalog)
        if (auto stored = catalog->move(id)) outcome.move = *stored;
    } catch (const Error&) {
      // What is known of it is older then.
    }
    view_.move_ended(outcome.move, outcome.error ? outcome.error->what() : "");
  }

  const Config& config_;
  const MoveOptions& options_;
  Context& context_;
  ProgressView& view_;
  std::vector<std::string> ids_;  // constant after construction
  /// Each element, at the place of its move in ids_, belongs to the worker that took the move.
  std::vector<MoveOutcome> outcomes_;
  bool stop_is_said_ = false;  // of the main thread

  std::mutex mutex_;
  std::condition_variable ended_;
  // guarded by mutex_
  std::vector<std::string> waiting_;  // moves that no worker has taken
  std::size_t working_ = 0;
};

}  // namespace

std::vector<MoveOutcome> run_moves(const Config& config, const std::vector<MoveRecord>& moves,
                                   const MoveOptions& options, Context& context,
                                   ProgressView& view) {
  const HeedStop heed(context);
  view.begin_moves(moves);
  return Runner(config, moves, options, context, view).run();
}

}  // namespace ringshard::cli
