#include "backend/sqlite/capture.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ringshard/error.hpp>
#include <set>
#include <string>
#include <vector>

#include "backend/home_store.hpp"
#include "backend/sql_template.hpp"
#include "backend/sqlite/schema_reader.hpp"
#include "core/row_hash.hpp"
#include "schemas/sql.hpp"

namespace ringshard::sqlite {

namespace {

std::string key_columns(std::size_t count) {
  return joined(count, ", ", [](std::size_t i) { return "k" + std::to_string(i); });
}

std::string as_text(std::string_view name) {
  std::string text = "'";
  for (const char byte : name) text += byte == '\'' ? std::string("''") : std::string(1, byte);
  return text + "'";
}

// What a name or text in double quotes stands for.
std::string unquoted(std::string_view text) {
  std::string plain;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"') ++i;
  }
  return plain;
}

// NEW."a", NEW."b"
std::string qualified(std::string_view row, const std::vector<std::string>& columns) {
  return joined(columns.size(), ", ",
                [&](std::size_t i) { return std::string(row) + "." + quoted(columns[i]); });
}

// The defaults that REPLACE puts in the place of a NULL, by column. They take part in a collision.
Replacements replaced_nulls(Session& session, const Table& table) {
  Replacements defaults;
  session.for_each(
      "SELECT name, dflt_value FROM pragma_table_xinfo($1, 'main') WHERE \"notnull\" <> 0 AND "
      "dflt_value IS NOT NULL",
      {std::string_view(table.name)}, [&defaults](RowView row) {
        std::string value(std::get<std::string_view>(row[1]));
        // A text in double quotes could name a column in a trigger.
        if (value.front() == '"') value = as_text(unquoted(value));
        defaults[std::string(std::get<std::string_view>(row[0]))] = std::move(value);
        return true;
      });
  return defaults;
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

// What makes the triggers of one table, and its applied table.
std::string table_script(Session& session, const Table& table) {
  Replacements names = replacements_for(table);
  std::string script = fill_in(schemas::home_sqlite_capture_table, names);
  const Replacements defaults = replaced_nulls(session, table);
  const auto new_value = [&defaults](const std::string& column) {
    const std::string value = "NEW." + quoted(column);
    const auto found = defaults.find(column);
    return found == defaults.end() ? value : "COALESCE(" + value + ", (" + found->second + "))";
  };
  std::set<std::string> seen;
  for (const UniqueIndex& index : unique_indexes(session, table.name)) {
    if (index.is_primary_key) continue;
    std::vector<std::string> columns;
    for (const UniqueIndex::Column& column : index.columns) columns.push_back(column.name);
    names["values_changed"] = differ("NEW", "OLD", columns);
    names["same_values"] = joined(columns.size(), " AND ", [&](std::size_t i) {
      return "other." + quoted(columns[i]) + " = " + new_value(columns[i]) + " COLLATE " +
             quoted(index.columns[i].collation);
    });
    // Named after what it compares: an index that was dropped and made again is the same index.
    names["unique_key"] = core::hex16(core::hash_text(names["same_values"]));
    if (!seen.insert(names["unique_key"]).second) continue;
    script += fill_in(schemas::home_sqlite_capture_unique_key, names);
  }
  return script;
}

// A change log that was made for narrower keys gets the columns that are missing.
void widen_change_log(Session& session, std::size_t width) {
  const std::int64_t columns =
      session.integer("SELECT count(*) FROM pragma_table_xinfo('ringshard_change_log', 'main')");
  for (auto i = static_cast<std::size_t>(columns) - 3; i < width; ++i)
    session.run_script("ALTER TABLE main.ringshard_change_log ADD COLUMN k" + std::to_string(i));
}

// Those that grow with the changes.
std::vector<std::string> capture_tables(Session& session) {
  std::vector<std::string> tables;
  session.for_each(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND "
      "(name GLOB 'ringshard_applied_*' OR name = 'ringshard_change_log')",
      {}, [&tables](RowView row) {
        tables.emplace_back(std::get<std::string_view>(row[0]));
        return true;
      });
  return tables;
}

std::string table_key(Session& session, std::string_view table) {
  std::vector<std::string> columns;
  session.for_each("SELECT name FROM pragma_table_xinfo($1, 'main') WHERE pk > 0 ORDER BY pk",
                   {table}, [&columns](RowView row) {
                     columns.emplace_back(std::get<std::string_view>(row[0]));
                     return true;
                   });
  return quoted_list(columns);
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
  for (const Table& table : schema.tables) session.run_script(table_script(session, table));
}

bool remove_capture(Session& session, std::int64_t rows_max) {
  // Dropping a table takes as long as it is large, and writers wait for it: it is emptied first.
  for (const std::string& table : capture_tables(session)) {
    const std::string key = table_key(session, table);
    const std::string name = "main." + quoted(table);
    const std::int64_t removed =
        session.execute("DELETE FROM " + name + " WHERE (" + key + ") IN (SELECT " + key +
                            " FROM " + name + " LIMIT $1)",
                        {rows_max});
    rows_max -= removed;
    if (rows_max <= 0) return false;
  }
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
  return true;
}

bool has_capture(Session& session) {
  return session.integer(
             "SELECT count(*) FROM main.sqlite_schema "
             "WHERE type = 'table' AND name = 'ringshard_change_log'") > 0;
}

std::optional<std::string> capture_gap(Session& session, const HomeSchema& schema) {
  constexpr std::string_view creates = "CREATE TRIGGER ";
  for (const Table& table : schema.tables) {
    const std::string script = table_script(session, table);
    std::size_t wanted = 0;
    for (std::size_t at = script.find(creates); at != std::string::npos;
         at = script.find(creates, at + 1))
      ++wanted;
    // SQLite keeps the text of a trigger as it was given.
    const std::int64_t there = session.integer(
        "SELECT count(*) FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = $1 AND "
        "name GLOB 'ringshard_*' AND instr($2, sql) > 0",
        {std::string_view(table.name), std::string_view(script)});
    if (there != static_cast<std::int64_t>(wanted)) return table.name;
  }
  return std::nullopt;
}

}  // namespace ringshard::sqlite
