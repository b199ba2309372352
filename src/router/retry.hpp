#pragma once

#include <cstdint>
#include <ringshard/error.hpp>
#include <ringshard/ids.hpp>

#include "router/counters.hpp"
#include "support/clock.hpp"

namespace ringshard::router {

/// How long one call may go on.
struct Limits {
  Deadline deadline;
  std::uint32_t attempts_max = 1;         ///< where something stands in the way
  std::uint32_t rounds_max = UINT32_MAX;  ///< of looking for the owner
};

/// The attempts of one call: waits between them, exponentially longer and with jitter, and ends
/// them. Used by one thread.
class Retry {
 public:
  Retry(ShardId shard, const Limits& limits, Clock& clock, Counters& counters)
      : shard_(shard), limits_(limits), clock_(clock), counters_(counters), began_(clock.now()) {}

  /// Counts a failed attempt and waits for the next one. If there is none, throws `error` again
  /// with the shard and what had been tried.
  void wait_after(const Error& error);

 private:
  [[noreturn]] void give_up(const Error& error) const;

  const ShardId shard_;
  const Limits limits_;
  Clock& clock_;
  Counters& counters_;
  const TimePoint began_;
  std::uint32_t attempts_ = 0;  // that failed for another reason than that no owner was found
  std::uint32_t rounds_ = 0;    // that found no owner
};

}  // namespace ringshard::router
