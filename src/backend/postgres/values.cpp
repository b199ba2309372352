#include "backend/postgres/values.hpp"

#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <ringshard/error.hpp>
#include <system_error>

namespace ringshard::postgres {

namespace {

// Fixed for all time, in the server's pg_type.dat.
constexpr unsigned type_boolean = 16;
constexpr unsigned type_bytes = 17;
constexpr unsigned type_name = 19;
constexpr unsigned type_int8 = 20;
constexpr unsigned type_int2 = 21;
constexpr unsigned type_int4 = 23;
constexpr unsigned type_text = 25;
constexpr unsigned type_oid = 26;
constexpr unsigned type_float4 = 700;
constexpr unsigned type_float8 = 701;
constexpr unsigned type_padded_text = 1042;
constexpr unsigned type_varchar = 1043;
constexpr unsigned type_timestamp = 1114;
constexpr unsigned type_timestamptz = 1184;
constexpr unsigned type_numeric = 1700;
constexpr unsigned type_uuid = 2950;
constexpr unsigned type_jsonb = 3802;

template <class Number>
std::string number_text(Number number) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

template <class Number>
Number parsed(std::string_view text) {
  Number number{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  // Beyond the smallest: the server rounds in the same way.
  if (end.ec == std::errc() && end.ptr == text.data() + text.size()) return number;
  throw Error(ErrorCode::corrupt,
              "the server sent \"" + std::string(text) + "\" where a number was expected");
}

double parsed_double(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return parsed<double>(text);
}

// Either form of bytea_output, which may be "escape" in a session of the application.
std::string unescaped(std::string_view text) {
  std::size_t size = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> bytes(
      PQunescapeBytea(reinterpret_cast<const unsigned char*>(std::string(text).c_str()), &size),
      PQfreemem);
  if (!bytes) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(bytes.get()), size};
}

}  // namespace

std::string text_of(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number_text(number);
}

Parameters::Parameters(std::span<const ValueView> values)
    : texts_(values.size()),
      pointers_(values.size(), nullptr),
      types_(values.size(), 0),
      lengths_(values.size(), 0),
      formats_(values.size(), 0) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const auto* integer = std::get_if<std::int64_t>(&values[i])) {
      texts_[i] = number_text(*integer);
    } else if (const auto* number = std::get_if<double>(&values[i])) {
      texts_[i] = text_of(*number);
    } else if (const auto* text = std::get_if<std::string_view>(&values[i])) {
      if (text->find('\0') != std::string_view::npos)
        throw Error(ErrorCode::invalid_argument,
                    "parameter $" + std::to_string(i + 1) +
                        " is a text with a NUL byte, which PostgreSQL can not store: keep such "
                        "values in a bytea column");
      texts_[i] = *text;
    } else if (const auto* blob = std::get_if<BlobView>(&values[i])) {
      // Without a copy.
      types_[i] = type_bytes;
      formats_[i] = 1;
      pointers_[i] = blob->bytes.empty() ? "" : blob->bytes.data();
      lengths_[i] = static_cast<int>(blob->bytes.size());
      continue;
    } else {
      continue;  // NULL
    }
    pointers_[i] = texts_[i].c_str();
  }
}

Kind kind_of(unsigned type) noexcept {
  switch (type) {
    case type_boolean:
      return Kind::boolean;
    case type_bytes:
      return Kind::bytes;
    case type_int2:
    case type_int4:
    case type_int8:
    case type_oid:
      return Kind::integer;
    case type_float4:
    case type_float8:
      return Kind::number;
    case type_timestamptz:
      return Kind::moment;
    default:
      return Kind::text;
  }
}

ColumnKind column_kind_of(unsigned type) noexcept {
  switch (type) {
    case type_boolean:
      return ColumnKind::boolean;
    case type_bytes:
      return ColumnKind::bytes;
    case type_int2:
    case type_int4:
    case type_int8:
    case type_oid:
      return ColumnKind::integer;
    case type_float4:
      return ColumnKind::real4;
    case type_float8:
      return ColumnKind::real8;
    case type_numeric:
      return ColumnKind::decimal;
    case type_name:
    case type_text:
    case type_varchar:
      return ColumnKind::text;
    case type_padded_text:
      return ColumnKind::padded_text;
    case type_uuid:
      return ColumnKind::uuid;
    case type_timestamp:
      return ColumnKind::timestamp;
    case type_timestamptz:
      return ColumnKind::timestamp_utc;
    case type_jsonb:
      return ColumnKind::json;
    default:
      return ColumnKind::other;
  }
}

ValueView value_of(Kind kind, std::string_view text, std::string& bytes, bool pinned) {
  switch (kind) {
    case Kind::integer:
      return parsed<std::int64_t>(text);
    case Kind::number:
      return parsed_double(text);
    case Kind::boolean:
      return std::int64_t{text == "t" || text == "true" ? 1 : 0};
    case Kind::bytes:
      bytes = unescaped(text);
      return BlobView{bytes};
    case Kind::moment:
      if (pinned && text.ends_with("+00")) text.remove_suffix(3);
      break;
    case Kind::text:
      break;
  }
  return text;
}

ResultRows::ResultRows(const PGresult* result, bool pinned)
    : result_(result), count_(PQntuples(result)), pinned_(pinned) {
  const int width = PQnfields(result);
  for (int i = 0; i < width; ++i) {
    names_.emplace_back(PQfname(result, i));
    kinds_.push_back(kind_of(PQftype(result, i)));
  }
  row_.resize(names_.size());
  bytes_.resize(names_.size());
}

RowView ResultRows::row(int index) {
  for (std::size_t i = 0; i < row_.size(); ++i) {
    const int column = static_cast<int>(i);
    if (PQgetisnull(result_, index, column) != 0) {
      row_[i] = Null{};
      continue;
    }
    const std::string_view text(PQgetvalue(result_, index, column),
                                static_cast<std::size_t>(PQgetlength(result_, index, column)));
    row_[i] = value_of(kinds_[i], text, bytes_[i], pinned_);
  }
  return row_;
}

}  // namespace ringshard::postgres
