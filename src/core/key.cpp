#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <ringshard/error.hpp>
#include <ringshard/key.hpp>
#include <system_error>
#include <utility>

#include "core/bytes.hpp"

namespace ringshard {

namespace {

Error invalid(const std::string& message) { return Error(ErrorCode::invalid_argument, message); }

std::string quote(std::string_view text) { return describe(ValueView(text)); }

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = core::hex_digit(digits[i]);
    const int low = core::hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

bool has_uuid_hyphens(std::string_view text) {
  return text.size() == 36 && text[8] == '-' && text[13] == '-' && text[18] == '-' &&
         text[23] == '-';
}

std::int64_t parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::result_out_of_range) {
    throw invalid("the key " + quote(text) +
                  " is out of range: an int64 key lies in -9223372036854775808 … "
                  "9223372036854775807");
  }
  if (failure != std::errc() || end != text.data() + text.size()) {
    throw invalid("the key " + quote(text) +
                  " is not a decimal integer, and the key type is int64");
  }
  return number;
}

std::string parse_bytes(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  auto bytes = from_hex(digits);
  if (!bytes) {
    throw invalid("the key " + quote(text) +
                  " is not an even number of hexadecimal digits, and the key type is bytes");
  }
  return *std::move(bytes);
}

KeyValue parse_part(KeyType type, std::string_view text) {
  switch (type) {
    case KeyType::int64:
      return KeyValue(Key(parse_integer(text)));
    case KeyType::text:
      return KeyValue(Key(text));
    case KeyType::uuid:
      return KeyValue(Key(Uuid::parse(text)));
    case KeyType::bytes: {
      const std::string bytes = parse_bytes(text);
      return KeyValue(Key(BlobView{bytes}));
    }
    case KeyType::composite:
      break;
  }
  throw Error(ErrorCode::internal, "a composite can not be part of a key");
}

std::vector<std::string> split_composite(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      parts.back().push_back(text[++i]);
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(text[i]);
    }
  }
  return parts;
}

std::string_view type_name(const ValueView& value) {
  static constexpr std::array<std::string_view, 5> names = {"NULL", "an integer", "a real number",
                                                            "text", "a blob"};
  return names[value.index()];
}

std::string types_of(const Key& key) {
  std::string text;
  for (const Key& part : key.parts()) {
    if (!text.empty()) text += ',';
    text += to_string(part.type());
  }
  return text;
}

}  // namespace

Uuid Uuid::parse(std::string_view text) {
  std::string digits(text);
  if (has_uuid_hyphens(text)) {
    digits = std::string(text.substr(0, 8)) + std::string(text.substr(9, 4)) +
             std::string(text.substr(14, 4)) + std::string(text.substr(19, 4)) +
             std::string(text.substr(24));
  }
  const auto bytes = digits.size() == 32 ? from_hex(digits) : std::nullopt;
  if (!bytes) {
    throw invalid(quote(text) + " is not a UUID (123e4567-e89b-12d3-a456-426614174000)");
  }
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), bytes->data(), uuid.bytes.size());
  return uuid;
}

std::string Uuid::to_string() const {
  std::string digits;
  core::append_hex(digits, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  for (const std::size_t at : {20U, 16U, 12U, 8U}) digits.insert(at, 1, '-');
  return digits;
}

std::string_view to_string(KeyType type) noexcept {
  switch (type) {
    case KeyType::int64:
      return "int64";
    case KeyType::text:
      return "text";
    case KeyType::uuid:
      return "uuid";
    case KeyType::bytes:
      return "bytes";
    case KeyType::composite:
      return "composite";
  }
  return "composite";
}

Key::Key(const char* text) : type_(KeyType::text) {
  if (text == nullptr) throw invalid("a key can not be made of a null pointer");
  set(text, std::strlen(text));
}

Key::Key(std::span<const Key> parts) : type_(KeyType::composite) {
  if (parts.empty()) throw invalid("a composite key needs at least one part");
  if (parts.size() == 1) {
    *this = parts.front();
    return;
  }
  for (const Key& part : parts) {
    if (part.type() == KeyType::composite) {
      throw invalid("a part of a composite key can not be a composite itself: " + describe(part));
    }
  }
  set(parts.data(), parts.size());
}

void Key::refuse_unsigned(std::uint64_t value) {
  throw invalid("the key " + std::to_string(value) +
                " is too large: integer keys are signed 64-bit, at most 9223372036854775807");
}

bool operator==(const Key& left, const Key& right) noexcept {
  if (left.type() != right.type()) return false;
  switch (left.type()) {
    case KeyType::int64:
      return left.integer() == right.integer();
    case KeyType::text:
    case KeyType::uuid:
    case KeyType::bytes:
      return left.bytes() == right.bytes();
    case KeyType::composite:
      return std::ranges::equal(left.parts(), right.parts());
  }
  return false;
}

std::string canonical_bytes(const Key& key) {
  std::string out;
  for (const Key& part : key.parts()) {
    if (part.type() == KeyType::int64) {
      core::append_little_endian(out, std::bit_cast<std::uint64_t>(part.integer()), 8);
    } else {
      out += part.bytes();
    }
  }
  return out;
}

std::string describe(const Key& key) {
  switch (key.type()) {
    case KeyType::int64:
      return std::to_string(key.integer());
    case KeyType::text:
      return quote(key.bytes());
    case KeyType::uuid:
      return key.uuid().to_string();
    case KeyType::bytes:
      return describe(ValueView(BlobView{key.bytes()}));
    case KeyType::composite:
      break;
  }
  std::string out = "(";
  for (const Key& part : key.parts()) {
    if (out.size() > 1) out += ", ";
    out += describe(part);
  }
  return out + ")";
}

KeyValue::KeyValue(const Key& key) {
  auto storage = std::make_shared<Storage>();
  const auto parts = key.parts();
  // The views below point into these strings, which must not move any more.
  storage->texts.reserve(parts.size());
  for (const Key& part : parts) {
    if (part.type() == KeyType::text) {
      storage->parts.emplace_back(storage->texts.emplace_back(part.bytes()));
    } else if (part.type() == KeyType::bytes) {
      storage->parts.emplace_back(BlobView{storage->texts.emplace_back(part.bytes())});
    } else {
      storage->parts.push_back(part);
    }
  }
  storage_ = std::move(storage);
}

Key KeyValue::view() const noexcept { return Key(std::span<const Key>(storage_->parts)); }

KeySpec::KeySpec(KeyType type) : KeySpec(std::vector<KeyType>{type}) {}

KeySpec::KeySpec(std::vector<KeyType> parts) : parts_(std::move(parts)) {
  if (parts_.empty()) throw invalid("a key needs at least one part");
  if (std::ranges::find(parts_, KeyType::composite) != parts_.end()) {
    throw invalid("a composite key is named by the types of its parts, for example int64,text");
  }
}

KeySpec KeySpec::parse(std::string_view text) {
  std::vector<KeyType> parts;
  for (const std::string& part : split_composite(text)) {
    const auto first = part.find_first_not_of(' ');
    const auto name = first == std::string::npos
                          ? std::string()
                          : part.substr(first, part.find_last_not_of(' ') + 1 - first);
    bool known = false;
    for (const KeyType type : {KeyType::int64, KeyType::text, KeyType::uuid, KeyType::bytes}) {
      if (name != ringshard::to_string(type)) continue;
      parts.push_back(type);
      known = true;
    }
    if (!known) {
      throw invalid("unknown key type " + quote(name) +
                    ": use int64, text, uuid or bytes, or several with commas (int64,text)");
    }
  }
  return KeySpec(std::move(parts));
}

std::string KeySpec::to_string() const {
  std::string text;
  for (const KeyType part : parts_) {
    if (!text.empty()) text += ',';
    text += ringshard::to_string(part);
  }
  return text;
}

bool KeySpec::accepts(const Key& key) const noexcept {
  return std::ranges::equal(key.parts(), parts_, {}, &Key::type);
}

void check_key(const KeySpec& spec, const Key& key) {
  if (spec.accepts(key)) return;
  throw invalid("the key " + describe(key) + " is of type " + types_of(key) +
                ", but keys here are of type " + spec.to_string());
}

KeyValue parse_key(const KeySpec& spec, std::string_view text) {
  if (spec.type() != KeyType::composite) return parse_part(spec.type(), text);
  const auto texts = split_composite(text);
  if (texts.size() != spec.parts().size()) {
    throw invalid("the key " + quote(text) + " has " + std::to_string(texts.size()) +
                  " part(s), but the key type " + spec.to_string() + " has " +
                  std::to_string(spec.parts().size()) +
                  ": put commas between them, and \\, for a comma inside a part");
  }
  std::vector<KeyValue> values;
  std::vector<Key> parts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    parts.push_back(values.emplace_back(parse_part(spec.parts()[i], texts[i])).view());
  }
  return KeyValue(Key(std::span<const Key>(parts)));
}

Key key_of(const ValueView& value, KeyType type) {
  switch (type) {
    case KeyType::int64:
      if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
      break;
    case KeyType::text:
      if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
      break;
    case KeyType::uuid:
      if (const auto* text = std::get_if<std::string_view>(&value)) return Uuid::parse(*text);
      if (const auto* blob = std::get_if<BlobView>(&value); blob && blob->bytes.size() == 16) {
        Uuid uuid;
        std::memcpy(uuid.bytes.data(), blob->bytes.data(), 16);
        return uuid;
      }
      break;
    case KeyType::bytes:
      if (const auto* blob = std::get_if<BlobView>(&value)) return *blob;
      break;
    case KeyType::composite:
      throw invalid("a composite key has several columns; one value can not be such a key");
  }
  if (std::holds_alternative<Null>(value)) {
    throw invalid("NULL can not be a shard key (the key type is " + std::string(to_string(type)) +
                  ")");
  }
  throw invalid("the value " + describe(value) + " is " + std::string(type_name(value)) +
                ", which can not be a key of type " + std::string(to_string(type)));
}

KeyValue key_of(RowView columns, const KeySpec& spec) {
  if (columns.size() != spec.parts().size()) {
    throw invalid(std::to_string(columns.size()) + " key column(s) given, but the key type " +
                  spec.to_string() + " has " + std::to_string(spec.parts().size()));
  }
  std::vector<Key> parts;
  parts.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    parts.push_back(key_of(columns[i], spec.parts()[i]));
  }
  return KeyValue(Key(std::span<const Key>(parts)));
}

}  // namespace ringshard
