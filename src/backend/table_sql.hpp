#pragma once

#include <cstddef>
#include <ringshard/value.hpp>
#include <string>
#include <vector>

#include "backend/home_store.hpp"

namespace ringshard {

/// " WHERE …" for the keys of a range that has these bounds, empty if it has none. $1 …: the keys
/// that add_bounds() adds.
std::string range_condition(const Table& table, bool has_after, bool has_through);
void add_bounds(const KeyRange& range, std::vector<ValueView>& parameters);

/// " WHERE …" for the rows of `count` keys, at least one. $1 …: the keys' values.
std::string keys_condition(const Table& table, std::size_t count);

/// Inserts a row or makes the one of its key equal to it. $1 …: the columns.
std::string upsert_statement(const Table& table, const Quirks& quirks);

/// The statements that HomeStore runs on one table, in SQL that every database understands: quoted
/// names, $n, ON CONFLICT and comparisons of whole rows.
///
/// Keys are compared with the column on the left, so that its own collation and type decide what is
/// the same key.
struct HomeStore::TableSql {
  TableSql(const Table& described, const Quirks& quirks);

  static constexpr std::size_t rows_at_once = 8;

  Table table;

  std::string select_row;      ///< $1 …: key
  std::string insert_missing;  ///< $1 …: columns
  std::string insert_many;     ///< the same for rows_at_once rows: a third faster in SQLite
  std::string upsert;          ///< $1 …: columns
  std::string erase;           ///< $1 …: key
  std::string count;
  // $1 …: the bounds, then the limit or offset. Index: index_of(range).
  std::string read[4];       ///< rows of a range, in the order of their keys
  std::string key_after[4];  ///< the key that so many keys of a range come before

  static std::size_t index_of(const KeyRange& range) noexcept {
    return (range.after ? 1U : 0U) + (range.through ? 2U : 0U);
  }

  std::string note_applied;  ///< $1 …: key, leg, seq; changes nothing if a newer change was noted
  std::string applied_after;  ///< $1: leg, $2: seq, $3: limit
};

}  // namespace ringshard
