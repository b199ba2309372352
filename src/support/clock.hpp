#pragma once

#include <chrono>
#include <cstdint>

namespace ringshard {

using Duration = std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

/// Time as a parameter: whatever waits, times out or backs off takes a Clock&, so that a test can
/// hold the hands. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Monotonic; for durations and deadlines inside this process.
  virtual TimePoint now() = 0;

  /// Milliseconds since 1970 in UTC; for what is stored and compared between processes.
  virtual std::int64_t unix_ms() = 0;

  virtual void sleep_for(std::chrono::microseconds duration) = 0;
};

/// The real clock. Lives for the whole process.
Clock& system_clock();

/// The last moment at which something may still be waited for.
class Deadline {
 public:
  /// No limit.
  constexpr Deadline() : at_(TimePoint::max()) {}
  constexpr explicit Deadline(TimePoint at) : at_(at) {}

  static Deadline after(Clock& clock, std::chrono::microseconds duration) {
    return Deadline(clock.now() + duration);
  }

  constexpr TimePoint at() const { return at_; }
  constexpr bool limited() const { return at_ != TimePoint::max(); }
  bool passed(Clock& clock) const { return limited() && clock.now() >= at_; }

  /// What is left, never negative; microseconds::max() without a limit.
  std::chrono::microseconds left(Clock& clock) const;

  friend constexpr Deadline earlier(Deadline a, Deadline b) { return a.at_ < b.at_ ? a : b; }

 private:
  TimePoint at_;
};

}  // namespace ringshard
