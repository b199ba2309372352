#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ringshard/value.hpp>
#include <string_view>

#include "core/home.hpp"

namespace ringshard {

/// How the home record lies in the table ringshard_home: the same columns in every database.
inline constexpr std::string_view home_record_columns =
    "format, keyspace, shard, role, leg, peer, move_id, mover, certificate";

inline constexpr std::size_t home_record_width = 9;

/// Raised when the meaning of the stored record changes.
inline constexpr std::int64_t home_record_format = 1;

/// The one row of a home that has none yet; its parameters are home_record_values().
std::string_view home_record_insert();

/// The columns of a record, as views into it.
std::array<ValueView, home_record_width> home_record_values(const HomeRecord& record);

/// A row of home_record_columns. Error{refused} if a newer version of ringshard wrote it,
/// Error{corrupt} if it is not what a record must be.
HomeRecord decode_home_record(RowView row);

/// Throws Error{corrupt} if the record found at `home` is the one of another home.
void require_same_home(const HomeName& home, const HomeRecord& record);

}  // namespace ringshard
