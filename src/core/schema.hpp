#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ringshard/value.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ringshard {

/// What a column can hold, where the database sees to that.
enum class ColumnKind : std::uint8_t {
  integer,
  boolean,
  real4,  ///< four bytes
  real8,
  decimal,
  text,
  padded_text,  ///< blanks at the end do not count
  bytes,
  uuid,
  timestamp,      ///< of no particular time zone
  timestamp_utc,  ///< a moment
  json,           ///< as a value, not as a text
  other           ///< anything else, as text
};

/// A table of the application as it stands in a home.
struct Table {
  std::string name;
  std::vector<std::string> columns;  ///< those that can be written: generated ones are left out
  std::vector<ColumnKind> kinds;     ///< of each of them; empty: every column takes any value
  std::vector<std::string> key;  ///< primary key, in the key's own order; empty if there is none
  std::vector<std::size_t> key_positions;  ///< where each key column stands in `columns`
  std::vector<std::string>
      key_collations;  ///< as the database names them; empty string: its default
  std::vector<std::vector<std::string>> unique_keys;  ///< further unique keys
  /// One of them has a condition, an expression or a collation of its own.
  bool has_special_unique_keys = false;
  std::vector<std::string> fixed_columns;  ///< those that a row gets when it is inserted, and keeps
  friend bool operator==(const Table&, const Table&) = default;
};

/// The primary key in a row of the table's columns.
Row primary_key_of(const Table& table, RowView row);

/// All tables of a home, and the statements that make them in an empty one, in an order that works.
struct HomeSchema {
  std::vector<Table> tables;
  std::vector<std::string> statements;

  const Table* find(std::string_view table_name) const noexcept;
  friend bool operator==(const HomeSchema&, const HomeSchema&) = default;
};

/// What differs, as a sentence that names the object; empty if the two make the same tables.
std::optional<std::string> difference(const HomeSchema& left, const HomeSchema& right);

}  // namespace ringshard
