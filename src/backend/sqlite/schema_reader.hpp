#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/session.hpp"
#include "core/schema.hpp"

namespace ringshard::sqlite {

/// A unique index, as its columns and their collations in the index.
struct UniqueIndex {
  struct Column {
    std::string name;  ///< empty: an expression
    std::string collation;
  };
  std::string name;
  bool is_primary_key = false;
  bool is_partial = false;
  std::vector<Column> columns;
};

/// All of them, the primary key's too unless it is the rowid.
std::vector<UniqueIndex> unique_indexes(Session& session, std::string_view table);

/// The application's tables, views, indexes and triggers in the file of the session.
HomeSchema read_schema(Session& session);

/// Statements that give a new file the numbers that an application keeps in the header of this one:
/// user_version and application_id, where they are not 0.
std::vector<std::string> read_settings(Session& session);

/// See Dialect::obstacles().
std::vector<Obstacle> find_obstacles(Session& session, const HomeSchema& schema);

/// Belongs to ringshard or to SQLite: begins with ringshard_ or sqlite_, in any case.
bool is_reserved(std::string_view name) noexcept;

}  // namespace ringshard::sqlite
