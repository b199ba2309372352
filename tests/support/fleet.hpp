#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ringshard/config.hpp>
#include <ringshard/ids.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/home_store.hpp"
#include "catalog/catalog.hpp"
#include "core/home.hpp"
#include "support/clock.hpp"
#include "support/paths.hpp"

namespace ringshard::testing {

struct RouterFleetOptions {
  std::uint32_t nodes = 2;   ///< named "a", "b", "c", …
  std::uint32_t shards = 4;  ///< shard i is placed on node i modulo nodes
  std::string router =
      "deadline: 5s, poll_interval: 50ms, mirror_timeout: 1s";  ///< the section's text
  std::string move = "lease: 10s";
  std::string synchronous = "normal";
  /// The statements that make an empty home.
  std::vector<std::string> statements = {
      "CREATE TABLE item (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, text TEXT)"};
};

/// A keyspace "shop" with int64 keys on SQLite nodes in a temporary folder: catalog, homes,
/// configuration. Its methods play the migrator by hand, through the same seam that the migrator
/// uses.
///
///     RouterFleet fleet;
///     Cluster cluster = Cluster::open(fleet.config);
///     fleet.begin_move(ShardId{0}, "a", "b");      // mirroring, all rows copied
///     fleet.decide(ShardId{0}, "a", "b");          // the cutover
///     fleet.promote(ShardId{0}, "a", "b");
///     fleet.end_move(ShardId{0}, "b", "a");        // cleanup
class RouterFleet {
 public:
  explicit RouterFleet(const RouterFleetOptions& options = {});

  TemporaryFolder folder;
  Clock& clock = system_clock();
  std::string catalog_dsn;
  std::vector<NodeInfo> nodes;
  KeyspaceDefinition keyspace;
  std::string config_text;
  std::filesystem::path config_path;
  Config config;

  Backend& backend(const std::string& node) { return *backends_.at(node); }
  Catalog catalog() const { return Catalog::open(catalog_dsn, clock); }
  HomeName home(ShardId shard) const { return {keyspace.name, shard}; }
  std::filesystem::path home_file(const std::string& node, ShardId shard) const;

  /// Runs `work` in a committed transaction of a home's maintenance session. Works on homes that
  /// own nothing too.
  void in_home(const std::string& node, ShardId shard, TxMode mode,
               const std::function<void(HomeStore&, HomeRecord&)>& work) const;

  HomeRecord record(const std::string& node, ShardId shard) const;
  std::int64_t log_rows(const std::string& node, ShardId shard) const;
  /// One integer from a home, whoever owns it.
  std::int64_t integer(const std::string& node, ShardId shard, std::string_view sql) const;

  /// A key of this shard: the n-th from 1 on.
  std::int64_t key_of(ShardId shard, int n = 1) const;

  /// Target home as mirror of leg 1, capture on, source with peer, all rows copied. Returns the
  /// move's id.
  std::string begin_move(ShardId shard, const std::string& source, const std::string& target);

  /// The cutover: applies what is left in the change log and makes `from` the mirror of the next
  /// leg, in one exclusive transaction at `from`.
  void decide(ShardId shard, const std::string& from, const std::string& to) const;
  bool promote(ShardId shard, const std::string& from, const std::string& to) const;

  /// The owner has neither capture nor peer, and the other home is gone.
  void end_move(ShardId shard, const std::string& owner, const std::string& other);

  /// Stores a shard's node in the catalog, and so a new version.
  void place(ShardId shard, const std::string& node);

 private:
  std::map<std::string, std::unique_ptr<Backend>> backends_;
  int moves_ = 0;
};

/// A switch that one thread waits for and another one throws.
class Gate {
 public:
  void open();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;  // guarded by mutex_
};

}  // namespace ringshard::testing
