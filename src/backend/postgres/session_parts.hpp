#pragma once

#include <chrono>
#include <string_view>

// What the two files of PostgresSession share: session.cpp with its transactions and statements,
// and session_wire.cpp with what it sends and hears.

namespace ringshard::postgres {

// How much longer than its statement_timeout a server may take to say so, before it is taken for
// one that does not answer.
inline constexpr std::chrono::milliseconds answer_grace(2'000);

// What the text of a value depends on: the same in each session, whatever the role's settings are.
inline constexpr std::string_view pinned_settings =
    "SET LOCAL datestyle TO 'ISO, MDY'; SET LOCAL intervalstyle TO postgres; "
    "SET LOCAL timezone TO 'UTC'; SET LOCAL extra_float_digits TO 1; "
    "SET LOCAL bytea_output TO hex; SET LOCAL xmloption TO content; "
    "SET LOCAL lc_monetary TO 'C'; SET LOCAL array_nulls TO on; ";

}  // namespace ringshard::postgres
