#pragma once

#include <algorithm>
#include <ringshard/error.hpp>
#include <utility>

#include "support/clock.hpp"

namespace ringshard {

/// Calls `attempt` again while it throws Error{conflict}, with growing pauses, until the deadline;
/// then that error goes on. Each attempt itself waits for its lock only as long as writers behind
/// it may be held up.
template <class Attempt>
auto retry_conflicts(Clock& clock, Deadline deadline, Attempt&& attempt) {
  std::chrono::microseconds pause(500);
  for (;;) {
    try {
      return attempt();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::conflict || deadline.passed(clock)) throw;
    }
    clock.sleep_for(std::min(pause, deadline.left(clock)));
    pause = std::min(pause * 2, std::chrono::microseconds(100'000));
  }
}

}  // namespace ringshard
