#pragma once

#include <atomic>
#include <cstdint>
#include <ringshard/cluster.hpp>

namespace ringshard::router {

/// What RouterStatistics is read from. Each counter is independent of the others: relaxed order is
/// enough.
struct Counters {
  using Counter = std::atomic<std::uint64_t>;
  Counter writes{0};
  Counter reads{0};
  Counter mirror_writes{0};
  Counter mirror_failures{0};
  Counter mirror_skips{0};
  Counter mirror_drops{0};
  Counter redirects{0};
  Counter retries{0};
  Counter refreshes{0};
  Counter finished_handovers{0};
  Counter captures_given_up{0};

  static void count(Counter& counter) noexcept { counter.fetch_add(1, std::memory_order_relaxed); }

  RouterStatistics read() const noexcept {
    const auto of = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
    return {.writes = of(writes),
            .reads = of(reads),
            .mirror_writes = of(mirror_writes),
            .mirror_failures = of(mirror_failures),
            .mirror_skips = of(mirror_skips),
            .mirror_drops = of(mirror_drops),
            .redirects = of(redirects),
            .retries = of(retries),
            .refreshes = of(refreshes),
            .finished_handovers = of(finished_handovers),
            .captures_given_up = of(captures_given_up)};
  }
};

}  // namespace ringshard::router
