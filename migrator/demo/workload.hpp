#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <ringshard/ringshard.hpp>
#include <string>

#include "demo/ledger.hpp"

namespace ringshard::demo {

struct WorkloadOptions {
  int writers = 2;
  int readers = 2;
  int process = 0;  ///< which of `processes` this is: accounts are divided among all their writers
  int processes = 1;
  std::uint64_t seed = 1;
  /// Between two writes of a thread; 0: as fast as it can.
  std::chrono::microseconds think_time{0};
};

struct WorkloadReport {
  std::int64_t writes = 0;          ///< acknowledged
  std::int64_t writes_failed = 0;   ///< refused with an error that says that nothing happened
  std::int64_t writes_unknown = 0;  ///< outcome_unknown
  std::int64_t reads = 0;
  std::int64_t reads_failed = 0;
  std::int64_t stale_reads = 0;  ///< older than what was acknowledged before they began
  std::int64_t impossible_reads =
      0;  ///< newer than anything issued, or rows that contradict each other
  std::int64_t write_p50_us = 0;
  std::int64_t write_p99_us = 0;
  std::int64_t write_max_us = 0;
  std::map<std::string, std::int64_t> errors;  ///< by the error's text
  RouterStatistics router;

  bool clean() const noexcept { return stale_reads == 0 && impossible_reads == 0; }
};

/// Writes and reads until `stop`, through one Cluster, in threads.
WorkloadReport run_workload(Cluster& cluster, Ledger& ledger, const WorkloadOptions& options,
                            const std::atomic<bool>& stop);

}  // namespace ringshard::demo
