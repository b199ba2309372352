#pragma once

#include <cstdint>
#include <optional>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "core/row_hash.hpp"
#include "core/schema.hpp"

namespace ringshard::portable {

// One form of values for two kinds of databases: what is equal in both has the same text. Written
// for a move across them, where one side declares the types of its columns and the other stores
// what it is given.
//
// The text of a value, by the kind of its column:
//
//     integer, boolean   decimal digits; 0 and 1
//     real8, real4       sixteen or eight hexadecimal digits, the bits as IEEE 754 has them; -0 is
//     0 decimal            without exponent, leading zeros and zeros at the end of the fraction
//     text               as it is; padded_text: without blanks at its end
//     bytes              hexadecimal
//     uuid               lower case
//     timestamp          YYYY-MM-DD HH:MM:SS, then a fraction without zeros at its end
//     timestamp_utc      the same, in UTC; a text without an offset is in UTC
//     json               as PostgreSQL's jsonb writes it
//     other              as it is
//
// A value that can not be of its column's kind has a text that nothing else has.

/// Appends the text of a value that is not NULL.
void append_value(std::string& out, ColumnKind kind, const ValueView& value);

/// Both NULL, or of the same text.
bool same(ColumnKind kind, const ValueView& left, const ValueView& right);

/// Appends a row as PostgreSQL writes a composite value: "(1,,\"a b\")", NULL being nothing at all.
/// No two different rows have the same text.
void append_row(std::string& out, std::span<const ColumnKind> kinds, RowView row);

/// Two 64-bit hashes of such a text, those of PostgreSQL's hashtextextended() with the seeds 0 and
/// 1 in a collation that compares bytes. `scratch` holds the text meanwhile.
core::Hash128 hash_row(std::span<const ColumnKind> kinds, RowView row, std::string& scratch);

/// What PostgreSQL's hash_bytes_extended() gives on a little-endian machine: lookup3 by Bob Jenkins
/// (burtleburtle.net/bob/c/lookup3.c, hashlittle2, public domain) with another start.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) noexcept;

/// A number without an exponent, "1.50" for "15.0e-1"; with `trimmed` without zeros at the end of
/// its fraction. Empty if the text is no decimal number, or one of more than some thousand digits.
std::optional<std::string> plain_decimal(std::string_view text, bool trimmed);

/// "YYYY-MM-DD HH:MM:SS.f" of a text as ISO 8601 has it, a date alone being its midnight. With
/// `to_utc` an offset is allowed and taken off. Empty if it is anything else.
std::optional<std::string> plain_timestamp(std::string_view text, bool to_utc);

/// The text that PostgreSQL gives this text as a jsonb. Empty if it is no JSON.
std::optional<std::string> plain_json(std::string_view text);

/// Of the homes of two kinds of databases the one that declares what its columns hold.
const HomeSchema& typed_of(const HomeSchema& left, const HomeSchema& right) noexcept;

/// Why rows can not move to and fro between two homes, one of a database that declares what its
/// columns hold and one of a database whose columns take what they get; empty if they can. Keys
/// must have one order in both, since rows are copied and compared by ranges of them; unique keys
/// must be the same, since a row that one side alone refuses would put another one out of its place
/// there.
std::vector<Obstacle> obstacles(const HomeSchema& left, const HomeSchema& right);

/// Error{schema} for a primary key that is not written as the other database writes it: an integer
/// as a text, a UUID in capitals. It would not be found there, or stand in another place.
void require_portable_key(const Table& typed, const Row& key);

}  // namespace ringshard::portable
