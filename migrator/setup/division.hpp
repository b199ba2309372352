#pragma once

#include <cstddef>
#include <ringshard/key.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/records.hpp"
#include "core/schema.hpp"
#include "setup/problems.hpp"

namespace ringshard::setup {

/// How the rows of an application's tables are divided among shards: which tables go where, and the
/// SQL that finds the shard key of each row in the undivided database.
class Division {
 public:
  Division(KeySpec key, std::vector<TableDefinition> tables)
      : key_(std::move(key)), tables_(std::move(tables)) {}

  const KeySpec& key() const noexcept { return key_; }
  const std::vector<TableDefinition>& tables() const noexcept { return tables_; }
  const TableDefinition* find(std::string_view table) const noexcept;
  bool is_sharded(std::string_view table) const noexcept;
  bool is_reference(std::string_view table) const noexcept;

  /// Notes all that keeps these tables from being divided so: tables not mentioned or not there,
  /// columns that are missing, parents that lead nowhere or in a circle.
  void check(const HomeSchema& schema, Problems& problems) const;

  // The following are for a division that check() found nothing wrong with, and for sharded tables.

  /// The table, its parent, … and last the table that has the key.
  std::vector<const TableDefinition*> chain(const TableDefinition& table) const;

  /// "FROM" and the table as <prefix>0, joined with its parent as <prefix>1 and so on.
  std::string from(const TableDefinition& table, const std::string& prefix) const;

  /// The joins of from() alone, for a table that is there as <prefix>0 already.
  std::string joins(const TableDefinition& table, const std::string& prefix) const;

  /// The columns of the shard key in from(), separated by commas.
  std::string key_columns(const TableDefinition& table, const std::string& prefix) const;

 private:
  void check_table(const TableDefinition& definition, const HomeSchema& schema,
                   Problems& problems) const;
  void check_parent(const TableDefinition& definition, const HomeSchema& schema,
                    Problems& problems) const;
  bool leads_in_a_circle(const TableDefinition& definition) const;

  KeySpec key_;
  std::vector<TableDefinition> tables_;
};

}  // namespace ringshard::setup
