#include "backend/sqlite/schema_reader.hpp"

#include <algorithm>
#include <map>
#include <ringshard/error.hpp>
#include <set>

namespace ringshard::sqlite {

namespace {

std::string text_of(const ValueView& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string() : std::string(*text);
}

std::int64_t integer_of(const ValueView& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer == nullptr ? 0 : *integer;
}

bool begins_with(std::string_view name, std::string_view prefix) noexcept {
  if (name.size() < prefix.size()) return false;
  return std::equal(prefix.begin(), prefix.end(), name.begin(), [](char left, char right) {
    return left == (right >= 'A' && right <= 'Z' ? static_cast<char>(right - 'A' + 'a') : right);
  });
}

// Names by kind: table, view, virtual, shadow.
std::map<std::string, std::string> tables_by_name(Session& session) {
  std::map<std::string, std::string> kinds;
  session.for_each("SELECT name, type FROM pragma_table_list WHERE schema = 'main'", {},
                   [&kinds](RowView row) {
                     kinds[text_of(row[0])] = text_of(row[1]);
                     return true;
                   });
  return kinds;
}

Table read_table(Session& session, const std::string& name) {
  Table table;
  table.name = name;
  std::map<std::int64_t, std::string> key;  // by the place in the key
  session.for_each("SELECT name, pk, hidden FROM pragma_table_xinfo($1, 'main') ORDER BY cid",
                   {std::string_view(name)}, [&](RowView row) {
                     const bool generated = integer_of(row[2]) != 0;
                     if (generated) return true;
                     table.columns.push_back(text_of(row[0]));
                     if (integer_of(row[1]) > 0) key[integer_of(row[1])] = table.columns.back();
                     return true;
                   });
  const std::vector<UniqueIndex> indexes = unique_indexes(session, name);
  for (const auto& [place, column] : key) {
    table.key.push_back(column);
    const auto found = std::find(table.columns.begin(), table.columns.end(), column);
    table.key_positions.push_back(static_cast<std::size_t>(found - table.columns.begin()));
    std::string collation;
    for (const UniqueIndex& index : indexes) {
      if (!index.is_primary_key) continue;
      for (const UniqueIndex::Column& part : index.columns)
        if (part.name == column && part.collation != "BINARY") collation = part.collation;
    }
    table.key_collations.push_back(collation);
  }
  for (const UniqueIndex& index : indexes) {
    if (index.is_primary_key) continue;
    std::vector<std::string> columns;
    for (const UniqueIndex::Column& part : index.columns) {
      if (!part.name.empty()) columns.push_back(part.name);
      if (index.is_partial || part.name.empty() || part.collation != "BINARY")
        table.has_special_unique_keys = true;
    }
    if (columns.size() == index.columns.size()) table.unique_keys.push_back(std::move(columns));
  }
  return table;
}

}  // namespace

bool is_reserved(std::string_view name) noexcept {
  return begins_with(name, "ringshard_") || begins_with(name, "sqlite_");
}

std::vector<UniqueIndex> unique_indexes(Session& session, std::string_view table) {
  std::vector<UniqueIndex> indexes;
  session.for_each(
      "SELECT name, origin, partial FROM pragma_index_list($1, 'main') WHERE \"unique\" = 1 ORDER "
      "BY seq DESC",
      {table}, [&indexes](RowView row) {
        indexes.push_back({text_of(row[0]), text_of(row[1]) == "pk", integer_of(row[2]) != 0, {}});
        return true;
      });
  for (UniqueIndex& index : indexes) {
    session.for_each(
        "SELECT name, coll FROM pragma_index_xinfo($1, 'main') WHERE key = 1 ORDER BY seqno",
        {std::string_view(index.name)}, [&index](RowView row) {
          index.columns.push_back({text_of(row[0]), text_of(row[1])});
          return true;
        });
  }
  return indexes;
}

std::vector<std::string> read_settings(Session& session) {
  std::vector<std::string> statements;
  for (const char* name : {"user_version", "application_id"}) {
    const std::int64_t number = session.integer(std::string("PRAGMA main.") + name);
    if (number != 0)
      statements.push_back(std::string("PRAGMA main.") + name + " = " + std::to_string(number));
  }
  return statements;
}

HomeSchema read_schema(Session& session) {
  const std::map<std::string, std::string> kinds = tables_by_name(session);
  // A virtual table makes its shadow tables itself.
  const auto is_shadow = [&kinds](const std::string& name) {
    const auto found = kinds.find(name);
    return found != kinds.end() && found->second == "shadow";
  };
  HomeSchema schema;
  std::vector<std::string> tables;
  session.for_each(
      "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL "
      "ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 WHEN 'view' THEN 2 ELSE 3 END, "
      "rowid",
      {}, [&](RowView row) {
        const std::string name = text_of(row[1]);
        if (is_reserved(name) || is_reserved(text_of(row[2])) || is_shadow(text_of(row[2])))
          return true;
        schema.statements.push_back(text_of(row[3]));
        if (text_of(row[0]) == "table" && kinds.at(name) == "table") tables.push_back(name);
        return true;
      });
  for (const std::string& name : tables) schema.tables.push_back(read_table(session, name));
  return schema;
}

}  // namespace ringshard::sqlite
