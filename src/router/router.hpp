#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <ringshard/cluster.hpp>
#include <ringshard/config.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "router/counters.hpp"
#include "router/mirror.hpp"
#include "router/owner_search.hpp"
#include "router/retry.hpp"
#include "router/topology_feed.hpp"

namespace ringshard::router {

using WriteWork = std::function<void(Transaction&)>;
using ReadWork = std::function<void(ReadTransaction&)>;

/// What a Cluster is made of. Thread-safe: its parts are, and no lock of theirs is held while a
/// node or the catalog is spoken to.
class Router {
 public:
  Router(const Config& config, const ClusterOptions& options);

  const std::shared_ptr<const View>& view() const { return feed_.view(); }
  void refresh();
  RouterStatistics statistics() const noexcept { return counters_.read(); }
  const RouterConfig& config() const noexcept { return config_.router; }
  Clock& clock() const noexcept { return clock_; }

  void write(ShardId shard, const WriteWork& work, const TransactOptions& options);
  void read(ShardId shard, const ReadWork& work, const TransactOptions& options);
  void read(ShardId shard, const ReadWork& work, const Limits& limits);
  /// Without asking whether the home is the owner; false if it can not be read that way.
  bool read_unchecked(ShardId shard, const ReadWork& work, Deadline deadline);

  Deadline deadline_of(const std::optional<std::chrono::milliseconds>& chosen) const;

  /// Threads that scatters use beside their callers' own, all together. Gives up to `wanted`, to be
  /// given back.
  std::uint32_t borrow_threads(std::uint32_t wanted) noexcept;
  void return_threads(std::uint32_t count) noexcept;

 private:
  // Where an attempt is when it fails decides whether it may be tried again.
  enum class Phase : std::uint8_t {
    begin,  ///< nothing of the caller's function has run
    work,   ///< inside the caller's function
    commit  ///< behind it
  };

  template <class Attempt>
  void with_retries(ShardId shard, const Limits& limits, const Attempt& attempt);
  void write_once(ShardId shard, const WriteWork& work, Deadline deadline, Phase& phase);
  void commit(HomeTransaction& home, ShardId shard);
  void read_once(ShardId shard, const ReadWork& work, Deadline deadline, Phase& phase);
  void prepare_next(const Error& error, Deadline deadline) noexcept;

  // constant after construction
  const Config config_;
  Clock& clock_;

  // thread-safe themselves
  Counters counters_;
  OwnerSearch search_;
  TopologyFeed feed_;
  Mirror mirror_;
  std::atomic<std::int32_t> threads_left_;
};

}  // namespace ringshard::router
