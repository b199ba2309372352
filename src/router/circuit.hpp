#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "support/clock.hpp"

namespace ringshard::router {

/// Keeps a peer that fails again and again from costing every write a time-out: after some failures
/// in a row it is left alone for a while, twice as long each time; then one caller tries.
/// Thread-safe.
class Circuit {
 public:
  static constexpr std::uint32_t failures_max = 3;
  static constexpr Duration pause_min{100};
  static constexpr Duration pause_max{5'000};

  /// False: do not even try. True after a pause is given to one caller only, until it reports or
  /// the same pause has passed again.
  bool allows(TimePoint now) noexcept {
    std::lock_guard lock(mutex_);
    if (failures_ < failures_max) return true;
    if (now < closed_until_) return false;
    closed_until_ = now + pause();
    return true;
  }

  void succeeded() noexcept {
    std::lock_guard lock(mutex_);
    failures_ = 0;
  }

  void failed(TimePoint now) noexcept {
    std::lock_guard lock(mutex_);
    if (failures_ < 1'000) ++failures_;
    if (failures_ >= failures_max) closed_until_ = now + pause();
  }

 private:
  Duration pause() const noexcept {
    const std::uint32_t doublings = std::min(failures_ - failures_max, 10U);
    return std::min(pause_max, pause_min * (1U << doublings));
  }

  std::mutex mutex_;
  // guarded by mutex_
  std::uint32_t failures_ = 0;  // in a row
  TimePoint closed_until_;      // meaningful from failures_max failures on
};

}  // namespace ringshard::router
