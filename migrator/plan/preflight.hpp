#pragma once

#include <string>
#include <vector>

#include "migrator/commands/fleet.hpp"
#include "migrator/plan/plan.hpp"

namespace ringshard::cli {

/// What a look before a move found, as one sentence that says what to do.
struct PreflightFinding {
  bool blocks = false;   ///< the moves would fail; otherwise they may take longer, or be put off
  bool passing = false;  ///< is there at the moment: a node that does not answer
  std::string node;
  std::string object;
  std::string text;

  friend bool operator==(const PreflightFinding&, const PreflightFinding&) = default;
};

/// Looks at what the moves of a plan need: that nodes answer and may be written to, versions and
/// rules of collations of the servers, transactions that are long open or prepared, room on the
/// targets, and of each home that is to move its rights, keys, triggers, and all else that can not
/// be moved. Changes nothing. `moves`: what they are checked for; `nodes`: as they are to be.
std::vector<PreflightFinding> preflight(OpenFleet& fleet, const std::vector<PlannedMove>& moves,
                                        const std::vector<NodeInfo>& nodes, Clock& clock);

/// Some finding blocks.
bool any_blocks(const std::vector<PreflightFinding>& findings) noexcept;

/// "blocks  node 'a': table t has no primary key, …"
std::string describe(const PreflightFinding& finding);

}  // namespace ringshard::cli
