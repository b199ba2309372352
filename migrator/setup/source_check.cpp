#include "setup/source_check.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ringshard::setup {

namespace {

std::string rows_text(std::int64_t rows) {
  return rows == 1 ? "1 row" : std::to_string(rows) + " rows";
}

/// Refused keys of a table are counted up to here: each of them costs an exception.
constexpr std::int64_t refused_keys_max = 1000;

void check_keys(Session& session, const Division& division, const TableDefinition& table,
                Problems& problems) {
  std::string key_is_null;
  for (const std::string& column : table.key)
    key_is_null += (key_is_null.empty() ? "" : " OR ") + quoted(column) + " IS NULL";
  const std::int64_t without =
      session.integer("SELECT count(*) FROM " + quoted(table.name) + " WHERE " + key_is_null);
  if (without > 0)
    problems.add("table '" + table.name + "' has " + rows_text(without) +
                 " whose key is NULL: a row without a key has no shard");
  std::int64_t refused = 0;
  std::string example;
  session.for_each("SELECT " + quoted_list(table.key) + " FROM " + quoted(table.name) +
                       " WHERE NOT (" + key_is_null + ")",
                   {}, [&](RowView row) {
                     try {
                       static_cast<void>(key_of(row, division.key()));
                     } catch (const Error& error) {
                       if (refused++ == 0) example = error.what();
                     }
                     return refused < refused_keys_max;
                   });
  if (refused > 0)
    problems.add("table '" + table.name + "' has " +
                 (refused < refused_keys_max ? "" : "at least ") + rows_text(refused) +
                 " whose key is not of the keyspace's type " + division.key().to_string() + ": " +
                 example);
}

void check_parents(Session& session, const Division& division, const TableDefinition& table,
                   Problems& problems) {
  std::string same;
  for (const auto& [own, parents] : table.parent_columns)
    same += (same.empty() ? "" : " AND ") + ("p." + quoted(parents)) + " = c." + quoted(own);
  const std::int64_t orphans =
      session.integer("SELECT count(*) FROM " + quoted(table.name) + " AS c WHERE NOT EXISTS (" +
                      "SELECT 1 FROM " + quoted(table.parent) + " AS p WHERE " + same + ")");
  if (orphans > 0)
    problems.add("table '" + table.name + "' has " + rows_text(orphans) + " whose parent in '" +
                 table.parent + "' does not exist: delete them or add the parents");
  // A unique index may leave rows out (WHERE), so that a child finds two parents.
  const std::int64_t rows = session.integer("SELECT count(*) FROM " + quoted(table.name));
  const std::int64_t found = session.integer("SELECT count(*) " + division.from(table, "t"));
  if (found > rows)
    problems.add("table '" + table.name + "' has rows with more than one parent in '" +
                 table.parent + "': name parent columns whose values occur once");
}

/// The foreign key runs along the way on which the child finds its key, so both rows always are in
/// one shard.
bool keeps_to_the_shard(const Division& division, const ForeignKey& key) {
  const TableDefinition& child = *division.find(key.table);
  const TableDefinition& parent = *division.find(key.parent);
  const auto goes_to = [&](const std::string& own, const std::string& parents) {
    for (std::size_t i = 0; i < key.columns.size(); ++i)
      if (key.columns[i] == own && key.parent_columns[i] == parents) return true;
    return false;
  };
  if (child.parent == key.parent)
    return std::all_of(child.parent_columns.begin(), child.parent_columns.end(),
                       [&](const auto& pair) { return goes_to(pair.first, pair.second); });
  if (child.key.empty() || parent.key.size() != child.key.size()) return false;
  for (std::size_t i = 0; i < child.key.size(); ++i)
    if (!goes_to(child.key[i], parent.key[i])) return false;
  return true;
}

void check_foreign_key(SourceDatabase& source, const Division& division, const ForeignKey& key,
                       HashStrategy hash, std::uint32_t shard_count, Problems& problems) {
  if (keeps_to_the_shard(division, key)) return;
  const TableDefinition& child = *division.find(key.table);
  const TableDefinition& parent = *division.find(key.parent);
  std::string same;
  for (std::size_t i = 0; i < key.columns.size(); ++i)
    same += (same.empty() ? "" : " AND ") + ("b0." + quoted(key.parent_columns[i])) + " = a0." +
            quoted(key.columns[i]);
  const std::string sql = "SELECT " + division.key_columns(child, "a") + ", " +
                          division.key_columns(parent, "b") + " " + division.from(child, "a") +
                          " JOIN " + quoted(parent.name) + " AS b0 ON " + same +
                          division.joins(parent, "b");
  const std::size_t width = division.key().parts().size();
  std::int64_t crossing = 0;
  source.session->for_each(sql, {}, [&](RowView row) {
    const KeyValue left = key_of(row.first(width), division.key());
    const KeyValue right = key_of(row.subspan(width), division.key());
    if (shard_of(hash, left, shard_count) != shard_of(hash, right, shard_count)) ++crossing;
    return true;
  });
  if (crossing > 0)
    problems.add("the foreign key from '" + key.table + "' to '" + key.parent + "' leads " +
                 rows_text(crossing) +
                 " to a row of another shard, where it could not be enforced: remove the foreign "
                 "key, or divide these tables by another key");
}

}  // namespace

void check_rows(SourceDatabase& source, const Division& division, HashStrategy hash,
                std::uint32_t shard_count, Problems& problems) {
  const std::size_t before = problems.size();
  for (const TableDefinition& table : division.tables()) {
    if (table.reference) continue;
    if (table.parent.empty())
      check_keys(*source.session, division, table, problems);
    else
      check_parents(*source.session, division, table, problems);
  }
  if (problems.size() != before) return;  // without good keys no row's shard is known
  for (const ForeignKey& key : source.parts.foreign_keys(*source.session))
    if (division.is_sharded(key.table) && division.is_sharded(key.parent))
      check_foreign_key(source, division, key, hash, shard_count, problems);
}

}  // namespace ringshard::setup
