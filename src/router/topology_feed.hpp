#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <thread>

#include "catalog/catalog.hpp"
#include "router/counters.hpp"
#include "router/log_limit.hpp"
#include "router/node.hpp"
#include "router/view.hpp"
#include "support/clock.hpp"

namespace ringshard::router {

/// Keeps the topology up to date: one thread, which alone asks the catalog, looks at its version
/// every poll_interval, or when somebody asks, and reads the topology when it has grown. Where the
/// catalog can tell of changes, a second thread listens and asks for a look. Thread-safe.
///
/// A topology is put in use only if its version is greater than that of the one in use, so a
/// look-up that was slow can not bring back an old place.
class TopologyFeed {
 public:
  /// Reads the first topology: from the catalog, else from the cache file (Cluster::open says how
  /// it fails).
  TopologyFeed(const Config& config, BackendOpener open_backend, Clock& clock, Counters& counters);
  TopologyFeed(const TopologyFeed&) = delete;
  TopologyFeed& operator=(const TopologyFeed&) = delete;
  /// Stops the thread; waits for a look at the catalog that is under way.
  ~TopologyFeed();

  /// What is in use now. One atomic load unless it has changed since this thread last asked. The
  /// reference is good until the same thread asks again: copy it to keep it.
  const std::shared_ptr<const View>& view() const;

  /// Returns when a look at the catalog that began after this call is over. Many callers share one.
  /// Throws what that look met, or Error{timeout} if it is not over at the deadline.
  void refresh(Deadline deadline);

  /// Asks for such a look without waiting for it.
  void nudge() noexcept;

 private:
  void run();
  void listen();
  std::shared_ptr<CatalogListener> begin_listening();
  std::optional<Error> look() noexcept;
  Catalog& catalog();
  void start_from_cache(const Error& why);
  void take(Topology topology);
  void publish(Topology topology);
  void store_in_cache(const Topology& topology) noexcept;

  // constant after construction
  const Config config_;
  const BackendOpener open_backend_;
  Clock& clock_;
  Counters& counters_;
  const std::uint64_t
      id_;  // of this feed among all of the process: the key of the threads' own copies

  // used by the constructor, then by thread_ alone
  std::optional<Catalog> catalog_;  // empty after a failure: opened again at the next look
  bool failing_ = false;            // the last look failed: say so once, and once that it is over
  LogLimit cache_log_;

  mutable std::mutex mutex_;
  std::condition_variable asked_changed_;
  std::condition_variable answered_changed_;
  std::condition_variable stop_listening_;
  // guarded by mutex_
  std::shared_ptr<const View> view_;
  std::uint64_t asked_ = 0;     // looks asked for
  std::uint64_t answered_ = 0;  // the newest of them that has been answered; never more than asked_
  std::optional<Error> answer_;  // what that look met
  bool stopping_ = false;
  std::shared_ptr<CatalogListener> listener_;  // the one that the other thread waits on

  std::atomic<std::uint64_t> generation_{0};  // grows, under mutex_, with each new view_
  std::thread thread_;
  std::thread listening_;
};

}  // namespace ringshard::router
