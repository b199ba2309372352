#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "migrator/commands/fleet.hpp"
#include "migrator/doctor/finding.hpp"
#include "migrator/progress.hpp"

namespace ringshard::cli {

struct Examination {
  std::vector<Finding> findings;   ///< in the order in which they are to be mended
  std::int64_t homes = 0;          ///< looked at
  std::int64_t rows = 0;           ///< whose key was checked
  std::int64_t moves = 0;          ///< unfinished
  std::vector<std::string> notes;  ///< what is no fault but good to know
};

/// Looks for everything that FindingKind names. Reads all rows of all homes; changes nothing.
/// Shards that a migrator is moving at this moment are left out, and said so. The `mend` of a
/// finding works on `fleet`, which has to outlive it.
Examination examine(OpenFleet& fleet, Clock& clock, Progress& progress);

}  // namespace ringshard::cli
