#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ringshard/topology.hpp>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/home_store.hpp"
#include "backend/row_batch.hpp"
#include "catalog/records.hpp"
#include "progress.hpp"
#include "setup/engine_schema.hpp"
#include "support/clock.hpp"

namespace ringshard::setup {

/// A home and the node that it is on.
struct Place {
  std::size_t node = 0;
  HomeName home;
};

/// All nodes and homes of a keyspace that is being set up. For one thread.
class NewFleet {
 public:
  NewFleet(const Topology& topology, const BackendOptions& options, Clock& clock);

  std::size_t node_count() const noexcept { return backends_.size(); }
  const std::string& node_name(std::size_t node) const { return topology_.nodes()[node].name; }
  Backend& backend(std::size_t node) { return *backends_[node]; }
  const Topology& topology() const noexcept { return topology_; }
  Clock& clock() noexcept { return clock_; }

  Place shard_home(ShardId shard) const;
  Place reference_home(std::size_t node) const;

  /// Homes of this keyspace's name that are on the nodes, as "shop_3 on node a".
  std::vector<std::string> homes_found();
  void drop_homes(Progress& progress);

  /// Makes a home for each shard, and on each node the reference home if there is one, of what
  /// `schemas` has for the node's kind of database.
  void make_homes(const Schemas& schemas, Progress& progress);

  /// A session in the home with a transaction begun.
  struct Work {
    std::unique_ptr<Session> session;
    std::unique_ptr<SessionTransaction> tx;
    std::unique_ptr<HomeStore> store;
    ~Work() {
      store.reset();
      tx.reset();
    }
  };
  std::unique_ptr<Work> begin(const Place& place, TxMode mode);

 private:
  Topology topology_;
  std::vector<std::unique_ptr<Backend>> backends_;
  Clock& clock_;
};

/// Takes rows for many homes, and writes them home by home, a transaction each, whenever
/// `bytes_max` of them have come together: memory is bounded and there are few commits. For one
/// thread.
class Loader {
 public:
  /// `before_writing` is called each time, and may throw.
  Loader(NewFleet& fleet, std::size_t bytes_max, std::function<void()> before_writing)
      : fleet_(fleet), bytes_max_(bytes_max), before_writing_(std::move(before_writing)) {}

  void add(ShardId shard, const Table& table, RowView row);
  /// To the reference home of every node.
  void add_to_all(const Table& table, RowView row);
  void flush();

 private:
  using Rows = std::map<const Table*, RowBatch>;
  void add(Rows& rows, const Table& table, RowView row);
  void write(const Place& place, Rows& rows);

  NewFleet& fleet_;
  const std::size_t bytes_max_;
  const std::function<void()> before_writing_;
  std::size_t bytes_ = 0;
  std::map<ShardId, Rows> shards_;
  Rows reference_;
};

}  // namespace ringshard::setup
