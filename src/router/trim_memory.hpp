#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <ringshard/ids.hpp>
#include <string>
#include <vector>

#include "core/home.hpp"

namespace ringshard::router {

/// The change-log entries that this router has mirrored itself, for each home that is being moved:
/// its next write there deletes them. Bounded: what does not fit is forgotten, stays in the log,
/// and is left to the migrator. Thread-safe.
class TrimMemory {
 public:
  static constexpr std::size_t entries_max = 4'096;  // for one home
  static constexpr std::size_t taken_max = 512;      // by one write
  static constexpr std::size_t homes_max = 1'024;

  void add(const HomeRecord& owner, const std::vector<std::int64_t>& seqs) {
    std::lock_guard lock(mutex_);
    Home& home = home_of(owner);
    const std::size_t room = entries_max - home.seqs.size();
    home.seqs.insert(home.seqs.end(), seqs.begin(),
                     seqs.begin() + static_cast<std::ptrdiff_t>(std::min(room, seqs.size())));
  }

  /// Removes entries of this move and leg and gives them to the caller: to delete them, or to add()
  /// them again.
  std::vector<std::int64_t> take(const HomeRecord& owner) {
    std::lock_guard lock(mutex_);
    const auto found = homes_.find(owner.shard);
    if (found == homes_.end()) return {};
    Home& home = home_of(owner);
    const auto first =
        home.seqs.end() - static_cast<std::ptrdiff_t>(std::min(taken_max, home.seqs.size()));
    std::vector<std::int64_t> taken(first, home.seqs.end());
    home.seqs.erase(first, home.seqs.end());
    return taken;
  }

 private:
  struct Home {
    std::string move_id;
    std::int64_t leg = 0;
    std::vector<std::int64_t> seqs;
  };

  // Entries of another move or leg mean nothing any more.
  Home& home_of(const HomeRecord& owner) {
    if (homes_.size() >= homes_max && homes_.count(owner.shard) == 0) homes_.erase(homes_.begin());
    Home& home = homes_[owner.shard];
    if (home.move_id != owner.move_id || home.leg != owner.leg) {
      home = {owner.move_id, owner.leg, {}};
    }
    return home;
  }

  std::mutex mutex_;
  std::map<ShardId, Home> homes_;  // guarded by mutex_
};

}  // namespace ringshard::router
