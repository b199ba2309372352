#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "support/clock.hpp"
#include "support/log.hpp"

namespace ringshard::router {

/// Lets one message through in each interval, and says in the next one how many were left out.
/// Thread-safe.
class LogLimit {
 public:
  explicit LogLimit(Duration interval = std::chrono::seconds(10)) : interval_(interval) {}

  void write(Clock& clock, LogLevel level, const std::string& message) noexcept {
    const std::int64_t now = clock.now().time_since_epoch().count();
    std::int64_t next = next_.load(std::memory_order_relaxed);
    const std::int64_t pause = TimePoint::duration(interval_).count();
    if (now < next || !next_.compare_exchange_strong(next, now + pause)) {
      left_out_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const std::uint64_t left_out = left_out_.exchange(0);
    if (left_out == 0) return log::write(level, message);
    log::write(level, message + " (" + std::to_string(left_out) + " more of this kind)");
  }

 private:
  const Duration interval_;
  std::atomic<std::int64_t> next_{INT64_MIN};
  std::atomic<std::uint64_t> left_out_{0};
};

}  // namespace ringshard::router
