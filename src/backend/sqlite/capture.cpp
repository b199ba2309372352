#include "backend/sqlite/capture.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "backend/home_store.hpp"
#include "backend/sqlite/schema_reader.hpp"
#include "core/row_hash.hpp"
#include "schemas/sql.hpp"

namespace ringshard::sqlite {

namespace {

using Replacements = std::map<std::string, std::string, std::less<>>;

// Puts in what stands for each {name}. In one pass: what was put in may hold braces of its own.
std::string fill_in(std::string_view text, const Replacements& replacements) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const auto found = replacements.find(name);
    if (close == std::string_view::npos || found == replacements.end())
      throw Error(ErrorCode::internal, "nothing to put in for {" + std::string(name) + "}");
    filled += found->second;
    text.remove_prefix(close + 1);
  }
  return filled;
}

// The parts, made from 0 … count - 1, with `separator` between them.
std::string joined(std::size_t count, std::string_view separator,
                   const std::function<std::string(std::size_t)>& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += separator;
    text += part(i);
  }
  return text;
}

std::string key_columns(std::size_t count) {
  return joined(count, ", ", [](std::size_t i) { return "k" + std::to_string(i); });
}

std::string as_text(std::string_view name) {
  std::string text = "'";
  for (const char byte : name) text += byte == '\'' ? std::string("''") : std::string(1, byte);
  return text + "'";
}

// NEW."a", NEW."b"
std::string qualified(std::string_view row, const std::vector<std::string>& columns) {
  return joined(columns.size(), ", ",
                [&](std::size_t i) { return std::string(row) + "." + quoted(columns[i]); });
}

// OLD."a" IS NOT NEW."a" OR …
std::string differ(std::string_view left, std::string_view right,
                   const std::vector<std::string>& columns) {
  return joined(columns.size(), " OR ", [&](std::size_t i) {
    return std::string(left) + "." + quoted(columns[i]) + " IS NOT " + std::string(right) + "." +
           quoted(columns[i]);
  });
}

Replacements replacements_for(const Table& table) {
  Replacements names;
  names["id"] = core::hex16(core::hash_text(table.name));
  names["table"] = quoted(table.name);
  names["table_text"] = as_text(table.name);
  names["applied"] = applied_table_name(table.name);
  names["key_columns"] = key_columns(table.key.size());
  names["collated_key_columns"] = joined(table.key.size(), ", ", [&table](std::size_t i) {
    const std::string& collation = table.key_collations[i];
    return "k" + std::to_string(i) + (collation.empty() ? "" : " COLLATE " + quoted(collation));
  });
  names["new_key"] = qualified("NEW", table.key);
  names["old_key"] = qualified("OLD", table.key);
  names["other_key"] = qualified("other", table.key);
  names["key_changed"] = differ("OLD", "NEW", table.key);
  names["other_row"] = differ("other", "OLD", table.key);
  return names;
}

void install_for_unique_keys(Session& session, const Table& table, Replacements names) {
  std::size_t number = 0;
  for (const UniqueIndex& index : unique_indexes(session, table.name)) {
    if (index.is_primary_key) continue;
    std::vector<std::string> columns;
    for (const UniqueIndex::Column& column : index.columns) columns.push_back(column.name);
    names["number"] = std::to_string(number++);
    names["values_changed"] = differ("NEW", "OLD", columns);
    names["same_values"] = joined(columns.size(), " AND ", [&](std::size_t i) {
      return "other." + quoted(columns[i]) + " = NEW." + quoted(columns[i]) + " COLLATE " +
             quoted(index.columns[i].collation);
    });
    session.run_script(fill_in(schemas::home_sqlite_capture_unique_key, names));
  }
}

// A change log that was made for narrower keys gets the columns that are missing.
void widen_change_log(Session& session, std::size_t width) {
  const std::int64_t columns =
      session.integer("SELECT count(*) FROM pragma_table_xinfo('ringshard_change_log', 'main')");
  for (auto i = static_cast<std::size_t>(columns) - 3; i < width; ++i)
    session.run_script("ALTER TABLE main.ringshard_change_log ADD COLUMN k" + std::to_string(i));
}

}  // namespace

void install_capture(Session& session, const HomeSchema& schema) {
  std::size_t width = 1;
  for (const Table& table : schema.tables) {
    if (table.key.empty())
      throw Error(ErrorCode::schema, "table " + table.name + " has no primary key");
    width = std::max(width, table.key.size());
  }
  session.run_script(fill_in(schemas::home_sqlite_capture, {{"key_columns", key_columns(width)}}));
  widen_change_log(session, width);
  for (const Table& table : schema.tables) {
    const Replacements names = replacements_for(table);
    session.run_script(fill_in(schemas::home_sqlite_capture_table, names));
    install_for_unique_keys(session, table, names);
  }
}

void remove_capture(Session& session) {
  std::string script;
  // Triggers first: dropping a table may not fire anything.
  session.for_each(
      "SELECT type, name FROM main.sqlite_schema WHERE "
      "(type = 'trigger' AND (name GLOB 'ringshard_guard_*' OR name GLOB 'ringshard_log_*' "
      "OR name GLOB 'ringshard_collide_*')) OR (type = 'table' AND (name GLOB "
      "'ringshard_applied_*' "
      "OR name IN ('ringshard_change_log', 'ringshard_checkpoint'))) ORDER BY type DESC",
      {}, [&script](RowView row) {
        script += "DROP " + std::string(std::get<std::string_view>(row[0])) + " main." +
                  quoted(std::get<std::string_view>(row[1])) + ";";
        return true;
      });
  session.run_script(script);
}

bool has_capture(Session& session) {
  return session.integer(
             "SELECT count(*) FROM main.sqlite_schema "
             "WHERE type = 'table' AND name = 'ringshard_change_log'") > 0;
}

}  // namespace ringshard::sqlite
