#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ringshard/hash.hpp>
#include <ringshard/ids.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/move_stage.hpp"
#include "core/schema.hpp"

namespace ringshard {

enum class KeyspaceState : std::uint8_t {
  empty,      ///< defined, homes not made yet: waits for an import
  importing,  ///< an import is under way or failed half-way; routers must not use it
  ready
};

/// How a table is divided.
struct TableDefinition {
  std::string name;
  bool reference = false;        ///< held whole by every node
  std::vector<std::string> key;  ///< columns of the shard key; empty: found through the parent
  std::string parent;            ///< table that the key is found through
  std::vector<std::pair<std::string, std::string>>
      parent_columns;  ///< column here, column in the parent
  friend bool operator==(const TableDefinition&, const TableDefinition&) = default;
};

/// What homes are made of in one kind of database.
struct KeyspaceSchema {
  HomeSchema home;       ///< a shard's
  HomeSchema reference;  ///< a node's reference home; no statements: there is none
  friend bool operator==(const KeyspaceSchema&, const KeyspaceSchema&) = default;
};

struct KeyspaceDefinition {
  std::string name;
  std::string key_type;  ///< as in the config: "int64", "text", "int64,text", …
  HashStrategy hash = HashStrategy::xxh3;
  std::uint32_t shard_count = shard_count_default;
  KeyspaceState state = KeyspaceState::empty;
  std::vector<TableDefinition> tables;
  /// By kind of database, as Dialect::engine() names it.
  std::map<std::string, KeyspaceSchema, std::less<>> schemas;

  /// Some tables are held whole by every node.
  bool has_reference_tables() const noexcept;
};

struct MoveRecord {
  std::string id;
  std::string plan_id;
  std::string keyspace;
  ShardId shard;
  std::string source;  ///< node names
  std::string target;
  MoveStage stage = MoveStage::planned;
  MoveWish wish = MoveWish::none;

  std::int64_t verified_seq =
      0;  ///< rows changed by seqs up to this were compared (in the present leg)
  bool differences_found = false;  ///< the verifier's verdict; sticky until repaired
  std::string error;               ///< the last failure; empty if none
  std::int64_t rows_copied = 0;
  std::int64_t rows_verified = 0;
  std::int64_t changes_applied = 0;
  std::int64_t bytes_estimated = 0;
  std::int64_t rows_estimated = 0;
  std::int64_t cutover_attempts = 0;
  std::int64_t pause_us = 0;          ///< the longest that a cutover attempt held writers
  std::int64_t observe_until_ms = 0;  ///< Unix time; 0: not known yet
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;

  std::string lease_holder;  ///< empty: nobody runs it
  std::int64_t lease_until_ms = 0;
};

struct Event {
  std::int64_t at_ms = 0;
  std::string keyspace;
  std::string move_id;  ///< empty: none
  std::string what;     ///< "stage", "nodes", "import", …
  std::string text;
  std::uint64_t version = 0;  ///< the keyspace's, after it
};

std::string_view to_string(KeyspaceState state) noexcept;
std::optional<KeyspaceState> parse_keyspace_state(std::string_view name) noexcept;

}  // namespace ringshard
