#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "migrator/commands/fleet.hpp"
#include "migrator/doctor/home_scan.hpp"

namespace ringshard::cli {

struct MisplacedMend {
  std::int64_t moved = 0;
  std::vector<std::string> refused;  ///< rows that were left where they are, and why
};

/// Brings misplaced rows of one home to the homes that they belong to. Both homes must be owners at
/// rest. While the home that they are in is locked, the rows are inserted where they belong, that
/// is committed, and then they are deleted here; so a row is in one place or, after a crash in
/// between, in both, never in none. A row that is there already and equal is only deleted here; one
/// that is there and different is left alone, and said so. Error{refused} if one of the homes is in
/// a move, Error{conflict} if a lock was not had.
MisplacedMend bring_home(OpenFleet& fleet, ShardId shard, const std::vector<MisplacedRow>& rows,
                         Clock& clock);

}  // namespace ringshard::cli
