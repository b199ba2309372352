#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <ringshard/error.hpp>
#include <string>

#include "backend/home_store.hpp"
#include "backend/sqlite/schema_reader.hpp"

namespace ringshard::sqlite {

namespace {

class Finder {
 public:
  Finder(Session& session, std::vector<Obstacle>& found) : session_(session), found_(found) {}

  void look_at_names() {
    session_.for_each(
        "SELECT type, name FROM main.sqlite_schema "
        "WHERE lower(substr(name, 1, 10)) = 'ringshard_'",
        {}, [this](RowView row) {
          const std::string name(std::get<std::string_view>(row[1]));
          if (!is_ours(name))
            add(name,
                "names that begin with ringshard_ are kept for ringshard itself: rename this " +
                    std::string(std::get<std::string_view>(row[0])));
          return true;
        });
  }

  void look_at_virtual_tables() {
    session_.for_each(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'virtual'", {},
        [this](RowView row) {
          add(std::string(std::get<std::string_view>(row[0])),
              "changes of a virtual table can not be captured: drop it, and build it again after "
              "the move");
          return true;
        });
  }

  void look_at(const Table& table) {
    if (table.key.empty()) {
      add(table.name, "has no primary key, so its rows can not be told apart: give it one");
      return;
    }
    if (table.key.size() > key_columns_max)
      add(table.name, "has a primary key of " + std::to_string(table.key.size()) +
                          " columns; at most " + std::to_string(key_columns_max) +
                          " can be noted: make it narrower");
    // The rows can not even be compared without the collation.
    if (look_at_collations(table)) look_for_null(table);
  }

 private:
  static bool is_ours(std::string_view name) {
    static constexpr std::array<std::string_view, 3> names{"ringshard_home", "ringshard_change_log",
                                                           "ringshard_checkpoint"};
    static constexpr std::array<std::string_view, 4> prefixes{
        "ringshard_applied_", "ringshard_guard_", "ringshard_log_", "ringshard_collide_"};
    return std::find(names.begin(), names.end(), name) != names.end() ||
           std::any_of(prefixes.begin(), prefixes.end(), [name](std::string_view prefix) {
             return name.substr(0, prefix.size()) == prefix;
           });
  }

  bool look_at_collations(const Table& table) {
    bool all_there = true;
    for (const UniqueIndex& index : unique_indexes(session_, table.name)) {
      for (const UniqueIndex::Column& column : index.columns) {
        const std::string what = index.is_primary_key ? "its primary key" : "index " + index.name;
        if (column.name.empty())
          add(table.name, what +
                              " is unique over an expression, which can not be captured: use a "
                              "generated column instead");
        if (!is_available(column.collation)) {
          all_there = false;
          add(table.name, what + " uses the collation " + column.collation +
                              ", which this program does not have");
        } else if (index.is_primary_key && column.collation != collation_of(table, column.name)) {
          add(table.name, what + " compares column " + column.name + " with another collation (" +
                              column.collation +
                              ") than the column itself: declare it at the column");
        }
      }
    }
    return all_there;
  }

  bool is_available(const std::string& collation) {
    try {
      session_.integer("SELECT 'a' < 'b' COLLATE " + quoted(collation));
      return true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::sql) return false;
      throw;
    }
  }

  std::string collation_of(const Table& table, const std::string& column) {
    const char* collation = nullptr;
    sqlite3_table_column_metadata(static_cast<sqlite3*>(session_.native_handle()), "main",
                                  table.name.c_str(), column.c_str(), nullptr, &collation, nullptr,
                                  nullptr, nullptr);
    return collation == nullptr ? "BINARY" : collation;
  }

  void look_for_null(const Table& table) {
    for (const std::string& column : table.key) {
      if (session_.integer("SELECT 1 FROM " + quoted(table.name) + " WHERE " + quoted(column) +
                           " IS NULL LIMIT 1") == 1)
        add(table.name, "has rows with NULL in column " + column +
                            " of its primary key: delete or correct them");
    }
  }

  void add(const std::string& object, const std::string& reason) {
    found_.push_back({object, reason});
  }

  Session& session_;
  std::vector<Obstacle>& found_;
};

}  // namespace

std::vector<Obstacle> find_obstacles(Session& session, const HomeSchema& schema) {
  std::vector<Obstacle> found;
  Finder finder(session, found);
  finder.look_at_names();
  finder.look_at_virtual_tables();
  for (const Table& table : schema.tables) finder.look_at(table);
  return found;
}

}  // namespace ringshard::sqlite
