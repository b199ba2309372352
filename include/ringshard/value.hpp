#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ringshard {

/// SQL NULL. It differs from the empty text.
struct Null {
  friend constexpr bool operator==(Null, Null) = default;
};

/// Bytes (BLOB, bytea), owned.
struct Blob {
  std::string bytes;
  friend bool operator==(const Blob&, const Blob&) = default;
};

/// Bytes, not owned.
struct BlobView {
  std::string_view bytes;
  friend constexpr bool operator==(BlobView, BlobView) = default;
};

/// One SQL value, owned. Text is UTF-8 and may hold NUL bytes.
using Value = std::variant<Null, std::int64_t, double, std::string, Blob>;

/// One SQL value that points into memory of somebody else: a parameter, or a column of the current
/// row.
using ValueView = std::variant<Null, std::int64_t, double, std::string_view, BlobView>;

/// A row, owned; columns in the order of the query.
using Row = std::vector<Value>;

/// A row that is valid only until the next one is fetched.
using RowView = std::span<const ValueView>;

ValueView view(const Value& value) noexcept;
Value to_value(const ValueView& value);
Row to_row(RowView row);
std::vector<ValueView> view(const Row& row);

/// Equal type and equal content: 1, 1.0 and '1' are three values, NULL equals NULL, and doubles are
/// compared by their bits (-0.0 is not 0.0).
bool identical(const Value& left, const Value& right) noexcept;

/// As text for people: strings quoted, blobs as x'…', long values cut at `width_max` characters.
std::string describe(const ValueView& value, std::size_t width_max = 64);
std::string describe(const Row& row, std::size_t width_max = 64);

/// A row as bytes and back: for each value one tag (0 null, 1 integer, 2 double, 3 text, 4 blob),
/// then eight little-endian bytes for a number, or a four-byte little-endian length and that many
/// bytes. No two different rows have the same bytes, so ('a','b') and ('ab','') differ. This is a
/// stored format (checkpoints) and the input of every row hash.
void append_encoded(std::string& out, const ValueView& value);
std::string encode_row(RowView row);
std::string encode_row(const Row& row);

/// Throws Error{corrupt} if `bytes` is not what encode_row() makes.
Row decode_row(std::string_view bytes);

}  // namespace ringshard
