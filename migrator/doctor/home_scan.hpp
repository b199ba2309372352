#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ringshard/topology.hpp>
#include <ringshard/value.hpp>
#include <string>
#include <vector>

#include "backend/home_store.hpp"
#include "catalog/records.hpp"

namespace ringshard::cli {

/// A row in a home that its key does not lead to.
struct MisplacedRow {
  std::string table;
  Row primary_key;
  std::string key;  ///< the shard key, for people
  ShardId belongs;
};

struct TableScan {
  std::string name;
  Digest digest;
  bool keys_checked = false;  ///< false: the keyspace does not say how this table is divided
};

/// What was found by reading every row of a home.
struct HomeScan {
  std::vector<TableScan> tables;
  std::int64_t rows = 0;
  std::int64_t rows_misplaced = 0;
  std::vector<MisplacedRow> misplaced;  ///< the first ones
  /// Rows that no key leads to: a parent that is not here, NULL or another type in a key column. By
  /// table.
  std::map<std::string, std::int64_t> keyless;

  bool clean() const noexcept { return rows_misplaced == 0 && keyless.empty(); }
};

/// Reads every row of a home inside the open transaction: counts, checksums, and whether the key of
/// each row hashes to `shard`. At most `misplaced_max` misplaced rows are named.
HomeScan scan_home(HomeStore& store, const KeyspaceDefinition& keyspace, const Topology& topology,
                   ShardId shard, std::size_t misplaced_max);

/// Tables of a keyspace so that parents come before their children.
std::vector<std::string> parents_first(const KeyspaceDefinition& keyspace);

std::string describe(const MisplacedRow& row);

}  // namespace ringshard::cli
