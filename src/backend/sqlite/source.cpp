#include <algorithm>
#include <filesystem>
#include <ringshard/error.hpp>
#include <string>
#include <utility>
#include <variant>

#include "backend/factories.hpp"
#include "backend/sqlite/dialect.hpp"
#include "backend/sqlite/foreign_keys.hpp"
#include "backend/sqlite/schema_reader.hpp"
#include "backend/sqlite/session.hpp"

namespace ringshard::sqlite {

namespace {

std::string text(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

ObjectKind kind_of(const std::string& type) {
  if (type == "table") return ObjectKind::table;
  if (type == "index") return ObjectKind::index;
  return type == "view" ? ObjectKind::view : ObjectKind::trigger;
}

constexpr std::string_view objects_sql =
    "SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL ORDER BY CASE "
    "type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid";

constexpr std::string_view foreign_keys_sql =
    "SELECT t.name, f.id, COALESCE(p.name, f.\"table\"), f.\"from\", COALESCE(f.\"to\", "
    "(SELECT k.name FROM pragma_table_xinfo(f.\"table\", 'main') k WHERE k.pk = f.seq + 1)) "
    "FROM main.sqlite_schema t JOIN pragma_foreign_key_list(t.name, 'main') f "
    "LEFT JOIN main.sqlite_schema p ON p.type = 'table' AND lower(p.name) = lower(f.\"table\") "
    "WHERE t.type = 'table' ORDER BY t.name, f.id, f.seq";

constexpr std::string_view columns_sql =
    "SELECT 'column', cid, name, type, \"notnull\", dflt_value, pk, hidden "
    "FROM pragma_table_xinfo($1, 'main') ORDER BY cid";

constexpr std::string_view unique_keys_sql =
    "SELECT 'key', i.origin, i.partial, c.seqno, c.name, c.\"desc\", c.coll "
    "FROM pragma_index_list($1, 'main') i JOIN pragma_index_xinfo(i.name, 'main') c "
    "WHERE i.origin <> 'c' ORDER BY i.name, c.seqno";

constexpr std::string_view options_sql =
    "SELECT 'options', type, ncol, wr, strict FROM pragma_table_list($1) WHERE schema = 'main'";

class SqliteSchemaParts final : public SchemaParts {
 public:
  std::vector<SchemaObject> objects(Session& session) const override {
    std::vector<SchemaObject> objects;
    for (const Row& row : session.rows(objects_sql)) {
      if (is_reserved(text(row[1])) || is_reserved(text(row[2]))) continue;
      objects.push_back({.kind = kind_of(text(row[0])),
                         .name = text(row[1]),
                         .table = text(row[2]),
                         .statement = text(row[3])});
    }
    return objects;
  }

  std::vector<std::string> settings(Session& session) const override {
    return read_settings(session);
  }

  std::vector<ForeignKey> foreign_keys(Session& session) const override {
    std::vector<ForeignKey> keys;
    std::optional<std::pair<std::string, Value>> current;
    for (const Row& row : session.rows(foreign_keys_sql)) {
      const std::pair<std::string, Value> id{text(row[0]), row[1]};
      if (current != id) {
        keys.push_back(
            {.table = text(row[0]), .columns = {}, .parent = text(row[2]), .parent_columns = {}});
        current = id;
      }
      keys.back().columns.push_back(text(row[3]));
      keys.back().parent_columns.push_back(text(row[4]));
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  std::string without_foreign_keys(std::string_view create_table,
                                   const std::set<std::string>& parents) const override {
    return sqlite::without_foreign_keys(create_table, parents);
  }

  std::vector<std::string> shape(Session& session, std::string_view table) const override {
    std::vector<std::string> lines;
    for (const std::string_view sql : {columns_sql, unique_keys_sql, options_sql})
      for (const Row& row : session.rows(sql, {table})) lines.push_back(describe(row, 10'000));
    return lines;
  }
};

// In a URI, whatever the path has of these would mean something else.
std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr std::string_view digits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', digits[byte >> 4U], digits[byte & 0xfU]};
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace

}  // namespace ringshard::sqlite

namespace ringshard {

SourceDatabase open_sqlite_source(std::string_view location, Clock& clock) {
  const std::filesystem::path file = std::filesystem::absolute(location);
  if (!std::filesystem::exists(file))
    throw Error(ErrorCode::not_found, "there is no SQLite database " + file.string());
  sqlite::SessionSpec spec;
  spec.place = {"the source", "file:" + sqlite::uri_path(file.string()) + "?mode=ro"};
  static const sqlite::SqliteDialect dialect;
  return {std::make_unique<sqlite::SqliteSession>(std::move(spec), clock), dialect,
          sqlite_schema_parts()};
}

const SchemaParts& sqlite_schema_parts() {
  static const sqlite::SqliteSchemaParts parts;
  return parts;
}

}  // namespace ringshard
