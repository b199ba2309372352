#include "backend/table_sql.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "backend/session.hpp"
#include "core/row_hash.hpp"

namespace ringshard {

namespace {

// k0, k1, …: the columns that hold a key in ringshard's own tables.
std::string key_columns(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? ", k" : "k") + std::to_string(i);
  return text;
}

/// $first …: the key.
std::string key_equals(const Table& table, std::size_t first = 1) {
  std::string text;
  for (std::size_t i = 0; i < table.key.size(); ++i)
    text += (i > 0 ? " AND " : "") + quoted(table.key[i]) + " = $" + std::to_string(first + i);
  return text;
}

// "k" > $1, or ("a", "b") > ($1, $2)
std::string key_compares(const Table& table, std::string_view comparison, std::size_t first) {
  const bool one = table.key.size() == 1;
  return (one ? "" : "(") + quoted_list(table.key) + (one ? " " : ") ") + std::string(comparison) +
         (one ? " " : " (") + placeholders(table.key.size(), first) + (one ? "" : ")");
}

std::string insert_statement(const Table& table, const Quirks& quirks) {
  return "INSERT INTO " + quoted(table.name) + " (" + quoted_list(table.columns) + ")" +
         std::string(quirks.insert_words) + " VALUES (" + placeholders(table.columns.size()) + ")";
}

std::string set_to_excluded(const Table& table) {
  std::string text;
  const std::vector<std::string>& fixed = table.fixed_columns;
  for (const std::string& column : table.columns)
    if (std::find(fixed.begin(), fixed.end(), column) == fixed.end())
      text += (text.empty() ? "" : ", ") + quoted(column) + " = excluded." + quoted(column);
  return text;
}

// `limit` lacks its number, which is the parameter after those of the bounds.
std::string read_statement(const Table& table, const std::vector<std::string>& columns,
                           std::string_view limit, std::size_t index) {
  const bool after = (index & 1U) != 0;
  const bool through = (index & 2U) != 0;
  const std::size_t bounds = (after ? 1U : 0U) + (through ? 1U : 0U);
  return "SELECT " + quoted_list(columns) + " FROM " + quoted(table.name) +
         range_condition(table, after, through) + " ORDER BY " + quoted_list(table.key) +
         std::string(limit) + placeholders(1, bounds * table.key.size() + 1);
}

}  // namespace

std::string range_condition(const Table& table, bool has_after, bool has_through) {
  std::string text;
  if (has_after) text = " WHERE " + key_compares(table, ">", 1);
  if (has_through)
    text += (has_after ? " AND " : " WHERE ") +
            key_compares(table, "<=", has_after ? table.key.size() + 1 : 1);
  return text;
}

void add_bounds(const KeyRange& range, std::vector<ValueView>& parameters) {
  for (const std::optional<Row>* bound : {&range.after, &range.through}) {
    if (!*bound) continue;
    for (const Value& value : **bound) parameters.push_back(view(value));
  }
}

std::string keys_condition(const Table& table, std::size_t count) {
  const std::size_t width = table.key.size();
  if (width == 1 && count > 1)
    return " WHERE " + quoted(table.key.front()) + " IN (" + placeholders(count) + ")";
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (i > 0 ? " OR (" : " WHERE (") + key_equals(table, i * width + 1) + ")";
  return text;
}

std::string upsert_statement(const Table& table, const Quirks& quirks) {
  const std::string set = set_to_excluded(table);
  return insert_statement(table, quirks) + " ON CONFLICT (" + quoted_list(table.key) + ") DO " +
         (set.empty() ? "NOTHING" : "UPDATE SET " + set);
}

std::string applied_table_name(std::string_view table) {
  return "ringshard_applied_" + core::hex16(core::hash_text(table));
}

HomeStore::TableSql::TableSql(const Table& described, const Quirks& quirks) : table(described) {
  const std::string name = quoted(table.name);
  const std::string columns = quoted_list(table.columns);
  const std::string insert = insert_statement(table, quirks);
  const std::size_t width = table.key.size();

  select_row = "SELECT " + columns + " FROM " + name + " WHERE " + key_equals(table);
  insert_missing = insert + " ON CONFLICT DO NOTHING";
  insert_many = insert;
  for (std::size_t i = 1; i < rows_at_once; ++i)
    insert_many += ", (" + placeholders(table.columns.size(), i * table.columns.size() + 1) + ")";
  insert_many += " ON CONFLICT DO NOTHING";
  upsert = upsert_statement(table, quirks);
  erase = "DELETE FROM " + name + " WHERE " + key_equals(table);
  count = "SELECT count(*) FROM " + name;
  for (std::size_t i = 0; i < 4; ++i) {
    read[i] = read_statement(table, table.columns, " LIMIT ", i);
    key_after[i] = read_statement(table, table.key, " LIMIT 1 OFFSET ", i);
  }

  // A change that has been noted already is noted, and applied, again (>=, not >): the migrator's
  // second application mends a deletion that a router applied while a backfill insert of the same
  // row was about to be committed.
  const std::string applied = quoted(applied_table_name(table.name));
  note_applied = "INSERT INTO " + applied + " (" + key_columns(width) + ", leg, seq) VALUES (" +
                 placeholders(width + 2) + ") ON CONFLICT (" + key_columns(width) +
                 ") DO UPDATE SET leg = excluded.leg, seq = excluded.seq WHERE excluded.leg > " +
                 applied + ".leg OR (excluded.leg = " + applied +
                 ".leg AND excluded.seq >= " + applied + ".seq)";
  applied_after = "SELECT seq, leg, " + key_columns(width) + " FROM " + applied +
                  " WHERE leg = $1 AND seq > $2 ORDER BY seq LIMIT $3";
}

}  // namespace ringshard
