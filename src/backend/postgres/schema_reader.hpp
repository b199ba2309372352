#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/postgres/session.hpp"
#include "backend/postgres/values.hpp"
#include "backend/source.hpp"
#include "core/schema.hpp"

namespace ringshard::postgres {

/// A further unique key, as it is compared: its expressions (plain columns mostly) and, for a
/// partial index, which rows it is about.
struct UniqueKey {
  std::vector<std::string> expressions;
  std::string predicate;  ///< empty: all rows
  bool nulls_are_equal = false;
};

/// What a table is beyond the words that all databases have for it.
struct KnownTable {
  std::vector<std::string> column_types;  ///< as SQL names them, in the order of Table::columns
  std::vector<Kind> key_kinds;
  std::vector<std::string> key_types;
  std::vector<UniqueKey> unique_keys;
  bool key_text_depends_on_settings = false;
};

struct KnownSchema {
  HomeSchema schema;
  std::map<std::string, KnownTable, std::less<>> tables;
};

/// The tables, without the statements that make them.
KnownSchema read_tables(PostgresSession& session);

/// Everything in the home that is the application's, in an order in which it can be made again.
/// What a mirror lives without for now is among it.
std::vector<SchemaObject> read_definitions(PostgresSession& session);

/// The statements of the above.
std::vector<std::string> read_statements(PostgresSession& session);

/// A definition that a mirror lives without.
struct Parked {
  std::string table;
  std::string name;
  std::string statement;    ///< makes it again
  bool flag = false;        ///< a foreign key: it is deferrable; a trigger: it fires
  std::string parent = {};  ///< of a foreign key
};
std::vector<Parked> foreign_keys(PostgresSession& session);

/// The application's triggers.
std::vector<Parked> triggers(PostgresSession& session);

/// See Dialect::obstacles().
std::vector<Obstacle> find_obstacles(PostgresSession& session, const HomeSchema& schema);

/// "shop_7", quoted: the schema of the session's home.
std::string schema_of(const PostgresSession& session);

/// Begins with ringshard_.
bool is_reserved(std::string_view name) noexcept;

/// The text in a column, or an empty one.
std::string text_of(const ValueView& value);

}  // namespace ringshard::postgres
