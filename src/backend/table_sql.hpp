#pragma once

#include <cstddef>
#include <string>

#include "backend/home_store.hpp"

namespace ringshard {

/// The statements that HomeStore runs on one table, in SQL that every database understands: quoted
/// names, $n, ON CONFLICT and comparisons of whole rows.
///
/// Keys are compared with the column on the left, so that its own collation and type decide what is
/// the same key.
struct HomeStore::TableSql {
  explicit TableSql(const Table& described);

  static constexpr std::size_t rows_at_once = 8;

  Table table;

  std::string select_row;      ///< $1 …: key
  std::string insert_missing;  ///< $1 …: columns
  std::string insert_many;     ///< the same for rows_at_once rows: a third faster in SQLite
  std::string upsert;          ///< $1 …: columns
  std::string erase;           ///< $1 …: key
  std::string count;
  /// $1 …: the bound before, then the bound through, as far as they are there, then the limit.
  /// Index: 1 if there is one before, plus 2 if there is one through.
  std::string read[4];

  std::string note_applied;  ///< $1 …: key, leg, seq; changes nothing if a newer change was noted
  std::string applied_after;  ///< $1: leg, $2: seq, $3: limit
  std::string log_has;        ///< $1: table name, $2 …: key
};

}  // namespace ringshard
