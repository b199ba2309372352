#include "router/scatter.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

namespace ringshard::router {

namespace {

/// The shards that are still to be asked, by node. Thread-safe.
class Queue {
 public:
  struct Job {
    ShardId shard;
    std::size_t node = 0;
  };

  Queue(const View& view, std::uint32_t per_node_max)
      : per_node_max_(per_node_max), nodes_(view.nodes().size()) {
    for (std::uint32_t shard = 0; shard < view.topology().shard_count(); ++shard) {
      nodes_[view.place_of(ShardId{shard}).value].waiting.push_back(ShardId{shard});
    }
  }

  /// A shard of a node that is not busy; waits for one. Nothing if none is left.
  std::optional<Job> take() {
    std::unique_lock lock(mutex_);
    while (true) {
      bool any_left = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        // In turn, so that all nodes are busy as soon as they can be.
        const std::size_t node = (next_ + i) % nodes_.size();
        Node& candidate = nodes_[node];
        if (candidate.waiting.empty()) continue;
        any_left = true;
        if (candidate.running >= per_node_max_) continue;
        const ShardId shard = candidate.waiting.front();
        candidate.waiting.pop_front();
        ++candidate.running;
        next_ = node + 1;
        return Job{shard, node};
      }
      if (!any_left) return std::nullopt;
      done_.wait(lock);
    }
  }

  void finished(const Job& job) {
    {
      std::lock_guard lock(mutex_);
      --nodes_[job.node].running;
    }
    done_.notify_all();
  }

 private:
  struct Node {
    std::deque<ShardId> waiting;
    std::uint32_t running = 0;
  };

  const std::uint32_t per_node_max_;
  std::mutex mutex_;
  std::condition_variable done_;
  // guarded by mutex_
  std::vector<Node> nodes_;
  std::size_t next_ = 0;
};

class Scatter {
 public:
  Scatter(Router& router, const View& view, const ScatterWork& work, const Limits& limits,
          std::uint32_t per_node_max)
      : router_(router),
        work_(work),
        limits_(limits),
        queue_(view, per_node_max),
        errors_(view.topology().shard_count()) {}

  void run_here() noexcept {
    while (const auto job = queue_.take()) {
      ask(job->shard);
      queue_.finished(*job);
    }
  }

  std::vector<std::optional<Error>> result() {
    if (foreign_) std::rethrow_exception(foreign_);
    return std::move(errors_);
  }

 private:
  void ask(ShardId shard) noexcept {
    try {
      if (limits_.deadline.passed(router_.clock())) {
        throw Error(ErrorCode::timeout, "shard " + std::to_string(shard.value) +
                                            " was not asked before the deadline of the scatter")
            .with_shard(shard);
      }
      router_.read(
          shard, [&](ReadTransaction& tx) { work_(shard, tx); }, limits_);
    } catch (const Error& error) {
      errors_[shard.value] = error;
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!foreign_) foreign_ = std::current_exception();
    }
  }

  Router& router_;
  const ScatterWork& work_;
  const Limits limits_;
  Queue queue_;
  std::vector<std::optional<Error>> errors_;  // each element is touched by one thread only
  std::mutex mutex_;
  std::exception_ptr foreign_;  // guarded by mutex_
};

/// Threads borrowed from the router, joined and given back at the end of the scope.
class Helpers {
 public:
  Helpers(Router& router, std::uint32_t wanted, Scatter& scatter)
      : router_(router), borrowed_(router.borrow_threads(wanted)) {
    try {
      for (std::uint32_t i = 0; i < borrowed_; ++i) {
        threads_.emplace_back([&scatter] { scatter.run_here(); });
      }
    } catch (const std::system_error&) {
      // No more threads to be had: those there are, and the caller's own, do all.
    }
  }
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() {
    for (std::thread& thread : threads_) thread.join();
    router_.return_threads(borrowed_);
  }

 private:
  Router& router_;
  const std::uint32_t borrowed_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::vector<std::optional<Error>> scatter(Router& router, const View& view, const ScatterWork& work,
                                          const ScatterOptions& options) {
  const std::uint32_t parallelism =
      std::max(1U, options.parallelism.value_or(router.config().scatter_parallelism));
  const std::uint32_t per_node_max =
      options.per_node_max != 0 ? options.per_node_max : std::max(1U, parallelism / 2);
  const Limits limits{.deadline = router.deadline_of(options.deadline),
                      .attempts_max = options.attempts_max,
                      .rounds_max = options.attempts_max};
  Scatter all(router, view, work, limits, per_node_max);
  {
    const std::uint32_t useful = std::min(parallelism, view.topology().shard_count());
    Helpers helpers(router, useful - 1, all);
    all.run_here();
  }
  return all.result();
}

}  // namespace ringshard::router
