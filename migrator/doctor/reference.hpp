#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/progress.hpp"

namespace ringshard::cli {

/// One node's reference home, or a table in it, that is not like the others.
struct ReferenceDifference {
  std::string node;
  std::string table;      ///< empty: the whole home
  std::string text;       ///< what differs
  std::string like_node;  ///< that it was compared with
};

struct ReferenceReport {
  bool expected = false;  ///< the keyspace has reference tables
  std::int64_t nodes = 0;
  std::int64_t tables = 0;
  std::int64_t rows = 0;  ///< of one copy
  std::vector<ReferenceDifference> differences;
  std::vector<std::string> unreachable;  ///< sentences: nodes that could not be asked, and why
};

/// Compares the reference homes of all nodes that are not removed, by count and checksum of each
/// table, with the copy that most nodes have.
ReferenceReport compare_references(OpenFleet& fleet);

/// Makes the reference home of `node` equal to that of `origin`, in one transaction; makes it if it
/// is missing.
void copy_reference(OpenFleet& fleet, const std::string& origin, const std::string& node,
                    Clock& clock, Progress& progress);

}  // namespace ringshard::cli
