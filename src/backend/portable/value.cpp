#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "backend/portable/portable.hpp"

namespace ringshard::portable {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

template <class Number>
std::string shortest(Number number) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

template <class Bits>
void append_bits(std::string& out, Bits bits) {
  for (int shift = static_cast<int>(sizeof bits) * 8 - 4; shift >= 0; shift -= 4)
    out += hex_digits[static_cast<std::size_t>(bits >> static_cast<unsigned>(shift)) & 15U];
}

// A text that holds NUL is one that no typed column holds.
void append_misfit(std::string& out, const ValueView& value) {
  out += '\0';
  append_encoded(out, value);
}

std::optional<double> as_double(const ValueView& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr) return std::nullopt;
  const auto number = static_cast<double>(*integer);
  // One that a double can not hold is not the same there.
  constexpr std::int64_t exact_max = std::int64_t{1} << 53U;
  return *integer >= -exact_max && *integer <= exact_max ? std::optional(number) : std::nullopt;
}

// The number of four bytes that this one was read from, if it was.
std::optional<float> as_float(double number) {
  const auto small = static_cast<float>(number);
  if (static_cast<double>(small) == number || std::isnan(number)) return small;
  const std::string text = shortest(small);
  double read = 0;
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read == number ? std::optional(small) : std::nullopt;
}

std::optional<std::string> decimal_of(const ValueView& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* number = std::get_if<double>(&value)) {
    if (std::isnan(*number)) return "NaN";
    if (std::isinf(*number)) return *number > 0 ? "Infinity" : "-Infinity";
    return plain_decimal(shortest(*number), true);
  }
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return std::nullopt;
  if (auto plain = plain_decimal(*text, true)) return plain;
  if (*text == "NaN" || *text == "Infinity" || *text == "-Infinity") return std::string(*text);
  return std::nullopt;
}

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& byte : lowered)
    if (byte >= 'A' && byte <= 'F') byte = static_cast<char>(byte - 'A' + 'a');
  return lowered;
}

std::optional<std::string> from_text(ColumnKind kind, std::string_view text) {
  switch (kind) {
    case ColumnKind::padded_text:
      return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
    case ColumnKind::uuid:
      return lower(text);
    case ColumnKind::timestamp:
      return plain_timestamp(text, false).value_or(std::string(text));
    case ColumnKind::timestamp_utc:
      return plain_timestamp(text, true).value_or(std::string(text));
    case ColumnKind::json:
      return plain_json(text);
    case ColumnKind::text:
    case ColumnKind::other:
      return std::string(text);
    case ColumnKind::integer:
    case ColumnKind::boolean:
    case ColumnKind::real4:
    case ColumnKind::real8:
    case ColumnKind::decimal:
    case ColumnKind::bytes:
      break;
  }
  return std::nullopt;
}

// The text of a value in a column of this kind; nothing if it can not be there.
std::optional<std::string> text_of(ColumnKind kind, const ValueView& value) {
  std::string text;
  switch (kind) {
    case ColumnKind::integer:
    case ColumnKind::boolean:
      if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
      return std::nullopt;
    case ColumnKind::real8: {
      const auto number = as_double(value);
      if (!number) return std::nullopt;
      append_bits(text, std::bit_cast<std::uint64_t>(*number + 0.0));  // -0 becomes 0
      return text;
    }
    case ColumnKind::real4: {
      const auto number = as_double(value);
      const auto small = number ? as_float(*number) : std::nullopt;
      if (!small) return std::nullopt;
      append_bits(text, std::bit_cast<std::uint32_t>(*small + 0.0F));
      return text;
    }
    case ColumnKind::decimal:
      return decimal_of(value);
    case ColumnKind::bytes: {
      const auto* blob = std::get_if<BlobView>(&value);
      if (blob == nullptr) return std::nullopt;
      for (const char byte : blob->bytes) append_bits(text, static_cast<std::uint8_t>(byte));
      return text;
    }
    case ColumnKind::text:
    case ColumnKind::padded_text:
    case ColumnKind::uuid:
    case ColumnKind::timestamp:
    case ColumnKind::timestamp_utc:
    case ColumnKind::json:
    case ColumnKind::other:
      break;
  }
  const auto* found = std::get_if<std::string_view>(&value);
  return found == nullptr ? std::nullopt : from_text(kind, *found);
}

// As record_out() quotes.
void append_field(std::string& out, std::string_view text) {
  const bool quotes = text.empty() || text.find_first_of("\"\\(), \t\n\v\f\r") != text.npos;
  if (!quotes) {
    out += text;
    return;
  }
  out += '"';
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') out += byte;
    out += byte;
  }
  out += '"';
}

}  // namespace

void append_value(std::string& out, ColumnKind kind, const ValueView& value) {
  if (const auto text = text_of(kind, value))
    out += *text;
  else
    append_misfit(out, value);
}

bool same(ColumnKind kind, const ValueView& left, const ValueView& right) {
  const bool null = std::holds_alternative<Null>(left);
  if (null || std::holds_alternative<Null>(right))
    return null && std::holds_alternative<Null>(right);
  std::string texts[2];
  append_value(texts[0], kind, left);
  append_value(texts[1], kind, right);
  return texts[0] == texts[1];
}

void append_row(std::string& out, std::span<const ColumnKind> kinds, RowView row) {
  std::string text;
  out += '(';
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    if (std::holds_alternative<Null>(row[i])) continue;
    text.clear();
    append_value(text, kinds[i], row[i]);
    append_field(out, text);
  }
  out += ')';
}

}  // namespace ringshard::portable
