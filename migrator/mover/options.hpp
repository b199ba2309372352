#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "support/clock.hpp"

namespace ringshard {

struct CutoverOptions {
  /// Writers never wait longer than this for a cutover: past it the lock is given up and nothing
  /// has changed.
  Duration pause_budget = std::chrono::milliseconds(250);
  /// How long one attempt waits for the writers that are in flight.
  Duration lock_timeout = std::chrono::milliseconds(50);
  /// Pause between two attempts; grows to ten times this.
  Duration retry_delay = std::chrono::milliseconds(200);
  int attempts_max = 20;
  /// With more changes than this left to apply or to compare, an attempt is not made.
  std::int64_t changes_max = 500;
};

struct MoveOptions {
  std::size_t chunk_rows = 5000;
  std::size_t chunk_bytes = std::size_t{8} << 20;
  std::int64_t tail_rows = 1000;  ///< change-log entries applied in one transaction
  std::int64_t change_log_rows_max = 1'000'000;
  Duration lease = std::chrono::seconds(10);
  Duration observe_for = std::chrono::hours(24);
  /// How long a step waits for a lock that ordinary writers hold, and between retries of a node
  /// that does not answer.
  Duration lock_wait = std::chrono::seconds(5);
  bool repair = false;  ///< make rows equal that the verifier found different
  CutoverOptions cutover;
};

}  // namespace ringshard
