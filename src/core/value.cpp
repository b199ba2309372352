#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <ringshard/error.hpp>
#include <ringshard/value.hpp>
#include <type_traits>
#include <utility>

#include "core/bytes.hpp"

namespace ringshard {

namespace {

// Tags of the stored format. Never renumber.
enum class Tag : unsigned char { null = 0, integer = 1, real = 2, text = 3, blob = 4 };

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

void append_tag(std::string& out, Tag tag) { out.push_back(static_cast<char>(tag)); }

void append_sized(std::string& out, Tag tag, std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::invalid_argument,
                "a value of " + std::to_string(bytes.size()) +
                    " bytes is too long to encode: a text or blob may have at most 4294967295");
  }
  append_tag(out, tag);
  core::append_little_endian(out, bytes.size(), 4);
  out.append(bytes);
}

std::string text_of(double number) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  std::string text(buffer.data(), result.ptr);
  // "1" would look like the integer.
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

bool continues_a_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// The longest beginning of `text` with at most `characters_max` UTF-8 characters, never half of
// one.
std::string_view prefix_of(std::string_view text, std::size_t characters_max) noexcept {
  std::size_t characters = 0;
  std::size_t continuations = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // A character has at most three of them; more is no UTF-8, and each counts as a character.
    if (continues_a_character(text[i]) && ++continuations <= 3) continue;
    continuations = 0;
    if (characters == characters_max) return text.substr(0, i);
    ++characters;
  }
  return text;
}

std::string cut(std::string text, std::size_t width_max) {
  const std::string_view kept = prefix_of(text, width_max);
  if (kept.size() == text.size()) return text;
  return std::string(prefix_of(text, width_max > 0 ? width_max - 1 : 0)) + "…";
}

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '\'') {
      out += "''";
    } else if (code < 0x20U || code == 0x7fU) {
      // Control characters would disturb a terminal or break a log line.
      out += "\\x";
      core::append_hex(out, std::string_view(&byte, 1));
    } else {
      out += byte;
    }
  }
  return out + "'";
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const noexcept { return rest_.empty(); }

  Value next() {
    const auto tag = static_cast<unsigned char>(take(1).front());
    switch (static_cast<Tag>(tag)) {
      case Tag::null:
        return Null{};
      case Tag::integer:
        return std::bit_cast<std::int64_t>(core::read_little_endian(take(8)));
      case Tag::real:
        return std::bit_cast<double>(core::read_little_endian(take(8)));
      case Tag::text:
        return std::string(take_sized());
      case Tag::blob:
        return Blob{std::string(take_sized())};
    }
    throw Error(ErrorCode::corrupt,
                "an encoded row has the unknown value tag " + std::to_string(tag));
  }

 private:
  std::string_view take(std::size_t size) {
    if (rest_.size() < size) {
      throw Error(ErrorCode::corrupt,
                  "an encoded row ends in the middle of a value: " + std::to_string(size) +
                      " bytes wanted, " + std::to_string(rest_.size()) + " left");
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view take_sized() {
    return take(static_cast<std::size_t>(core::read_little_endian(take(4))));
  }

  std::string_view rest_;
};

}  // namespace

ValueView view(const Value& value) noexcept {
  // get_if instead of std::visit: a valueless variant can not throw out of a noexcept function.
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return std::string_view(*text);
  if (const auto* blob = std::get_if<Blob>(&value)) return BlobView{blob->bytes};
  return Null{};
}

Value to_value(const ValueView& value) {
  return std::visit(
      Overloaded{[](Null) -> Value { return Null{}; },
                 [](std::int64_t integer) -> Value { return integer; },
                 [](double real) -> Value { return real; },
                 [](std::string_view text) -> Value { return std::string(text); },
                 [](BlobView blob) -> Value { return Blob{std::string(blob.bytes)}; }},
      value);
}

Row to_row(RowView row) {
  Row owned;
  owned.reserve(row.size());
  for (const ValueView& value : row) owned.push_back(to_value(value));
  return owned;
}

std::vector<ValueView> view(const Row& row) {
  std::vector<ValueView> views;
  views.reserve(row.size());
  for (const Value& value : row) views.push_back(view(value));
  return views;
}

bool identical(const Value& left, const Value& right) noexcept {
  const auto* left_real = std::get_if<double>(&left);
  const auto* right_real = std::get_if<double>(&right);
  if (left_real != nullptr && right_real != nullptr) {
    return std::bit_cast<std::uint64_t>(*left_real) == std::bit_cast<std::uint64_t>(*right_real);
  }
  return left == right;
}

std::string describe(const ValueView& value, std::size_t width_max) {
  // Only what can be shown is formatted: a 64 MB blob must not become 128 MB of digits.
  return std::visit(Overloaded{[](Null) -> std::string { return "NULL"; },
                               [](std::int64_t integer) { return std::to_string(integer); },
                               [](double real) { return text_of(real); },
                               [width_max](std::string_view text) {
                                 return cut(quoted(prefix_of(text, width_max)), width_max);
                               },
                               [width_max](BlobView blob) {
                                 std::string out = "x'";
                                 core::append_hex(out, blob.bytes.substr(0, width_max));
                                 return cut(out + "'", width_max);
                               }},
                    value);
}

std::string describe(const Row& row, std::size_t width_max) {
  std::string out = "(";
  for (const Value& value : row) {
    if (out.size() > 1) out += ", ";
    out += describe(view(value), width_max);
  }
  return out + ")";
}

void append_encoded(std::string& out, const ValueView& value) {
  std::visit(Overloaded{[&out](Null) { append_tag(out, Tag::null); },
                        [&out](std::int64_t integer) {
                          append_tag(out, Tag::integer);
                          core::append_little_endian(out, std::bit_cast<std::uint64_t>(integer), 8);
                        },
                        [&out](double real) {
                          append_tag(out, Tag::real);
                          core::append_little_endian(out, std::bit_cast<std::uint64_t>(real), 8);
                        },
                        [&out](std::string_view text) { append_sized(out, Tag::text, text); },
                        [&out](BlobView blob) { append_sized(out, Tag::blob, blob.bytes); }},
             value);
}

std::string encode_row(RowView row) {
  std::string out;
  for (const ValueView& value : row) append_encoded(out, value);
  return out;
}

std::string encode_row(const Row& row) {
  std::string out;
  for (const Value& value : row) append_encoded(out, view(value));
  return out;
}

Row decode_row(std::string_view bytes) {
  Decoder decoder(bytes);
  Row row;
  while (!decoder.at_end()) row.push_back(decoder.next());
  return row;
}

}  // namespace ringshard
