#include "backend/postgres/values.hpp"

#include <libpq-fe.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <ringshard/error.hpp>
#include <system_error>

namespace ringshard::postgres {

namespace {

// Fixed for all time, in the server's pg_type.dat.
constexpr unsigned type_boolean = 16;
constexpr unsigned type_bytes = 17;
constexpr unsigned type_int8 = 20;
constexpr unsigned type_int2 = 21;
constexpr unsigned type_int4 = 23;
constexpr unsigned type_oid = 26;
constexpr unsigned type_float4 = 700;
constexpr unsigned type_float8 = 701;

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

int hex_digit(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// bytea_output may be "escape" in a session of the application.
std::string unescaped(std::string_view text) {
  std::string bytes;
  if (text.substr(0, 2) == "\\x") {
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 2; i + 1 < text.size(); i += 2)
      bytes += static_cast<char>(hex_digit(text[i]) * 16 + hex_digit(text[i + 1]));
    return bytes;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
    } else if (text[i + 1] == '\\') {
      bytes += '\\';
      ++i;
    } else {
      bytes += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    }
  }
  return bytes;
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
    default:
      return Kind::text;
  }
}

ValueView value_of(Kind kind, std::string_view text, std::string& bytes) {
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
    case Kind::text:
      break;
  }
  return text;
}

ResultRows::ResultRows(const PGresult* result) : result_(result), count_(PQntuples(result)) {
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
    row_[i] = value_of(kinds_[i], text, bytes_[i]);
  }
  return row_;
}

}  // namespace ringshard::postgres
