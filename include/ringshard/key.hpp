#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace ringshard {

/// A UUID: sixteen bytes in the order in which they are written.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  /// Reads "123e4567-e89b-12d3-a456-426614174000", either case, or the 32 digits without hyphens.
  /// Throws Error{invalid_argument} that quotes the text.
  static Uuid parse(std::string_view text);

  /// Lower case, with hyphens.
  std::string to_string() const;

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

/// What kind of value a key is. A keyspace has one kind (KeySpec); int64 42 and text "42" are
/// different keys and live on different shards.
enum class KeyType : std::uint8_t { int64, text, uuid, bytes, composite };

/// "int64", "text", "uuid", "bytes", "composite".
std::string_view to_string(KeyType type) noexcept;

namespace detail {

template <class T>
concept KeyInteger = std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> &&
                     !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
                     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
                     !std::same_as<T, char32_t>;

template <class T>
concept NotAKey = std::floating_point<T> ||(std::integral<T> && !KeyInteger<T>) ||
                  std::same_as<T, std::nullptr_t>;

}  // namespace detail

/// The shard key of one operation, as a view: it does not own text, bytes or parts, so it must not
/// outlive them. Meant to be passed, not kept; KeyValue is the one to keep. Trivially copyable.
///
///     cluster.transact(4711, work);                  // every integer but bool and character types
///     cluster.transact("anna@example.org", work);    // text: UTF-8 bytes as they are
///     cluster.transact(Uuid::parse(text), work);
///     cluster.transact({tenant_id, "orders"}, work); // composite
///
/// Canonical bytes (a stored format, never changes): an integer as eight little-endian bytes in
/// two's complement, text as its UTF-8 bytes without normalization, a UUID as its sixteen bytes,
/// bytes as they are. The parts of a composite are hashed one after another (hash.hpp).
class Key {
 public:
  /// Throws Error{invalid_argument} for an unsigned integer above 2^63-1.
  template <detail::KeyInteger Integer>
  Key(Integer value) : Key(from_integer(value)) {}  // NOLINT: implicit on purpose

  /// A truth value, a character, a floating-point number and nullptr are no keys.
  template <detail::NotAKey T>
  Key(T) = delete;

  Key(std::string_view text) noexcept : type_(KeyType::text) { set(text.data(), text.size()); }
  Key(const std::string& text) noexcept : Key(std::string_view(text)) {}
  /// Throws Error{invalid_argument} for a null pointer.
  Key(const char* text);
  Key(BlobView blob) noexcept : type_(KeyType::bytes) { set(blob.bytes.data(), blob.bytes.size()); }
  Key(const Blob& blob) noexcept : Key(BlobView{blob.bytes}) {}
  Key(const Uuid& uuid) noexcept : type_(KeyType::uuid) {
    std::memcpy(storage_, uuid.bytes.data(), uuid.bytes.size());
  }

  /// A composite of at least two parts, none of them a composite. One part alone is that part, so
  /// that `Key copy{key}` copies. The parts must outlive the key: a braced list does so only as
  /// an argument of the call. Throws Error{invalid_argument} for no part or a composite part.
  Key(std::span<const Key> parts);
  Key(std::initializer_list<Key> parts) : Key(std::span<const Key>(parts.begin(), parts.size())) {}

  KeyType type() const noexcept { return type_; }

  /// Only for a key of type int64.
  std::int64_t integer() const noexcept {
    std::int64_t value = 0;
    std::memcpy(&value, storage_, sizeof value);
    return value;
  }

  /// Only for text, bytes and uuid. Of a uuid it points into this key itself.
  std::string_view bytes() const noexcept {
    if (type_ == KeyType::uuid) return {reinterpret_cast<const char*>(storage_), 16};
    return {static_cast<const char*>(data()), size()};
  }

  /// Only for a key of type uuid.
  Uuid uuid() const noexcept {
    Uuid uuid;
    std::memcpy(uuid.bytes.data(), storage_, uuid.bytes.size());
    return uuid;
  }

  /// The parts of a composite; of any other key, that key alone.
  std::span<const Key> parts() const noexcept {
    if (type_ == KeyType::composite) return {static_cast<const Key*>(data()), size()};
    return {this, 1};
  }

  /// Same type and same content.
  friend bool operator==(const Key& left, const Key& right) noexcept;

 private:
  struct Int64 {
    std::int64_t value;
  };
  explicit Key(Int64 integer) noexcept : type_(KeyType::int64) {
    std::memcpy(storage_, &integer.value, sizeof integer.value);
  }

  template <class Integer>
  static Int64 from_integer(Integer value) {
    if constexpr (std::is_unsigned_v<Integer> && sizeof(Integer) == 8) {
      if (value > static_cast<std::uint64_t>(INT64_MAX)) refuse_unsigned(value);
    }
    return Int64{static_cast<std::int64_t>(value)};
  }
  [[noreturn]] static void refuse_unsigned(std::uint64_t value);

  void set(const void* data, std::size_t size) noexcept {
    std::memcpy(storage_, &data, sizeof data);
    std::memcpy(storage_ + 8, &size, sizeof size);
  }
  const void* data() const noexcept {
    const void* data = nullptr;
    std::memcpy(&data, storage_, sizeof data);
    return data;
  }
  std::size_t size() const noexcept {
    std::size_t size = 0;
    std::memcpy(&size, storage_ + 8, sizeof size);
    return size;
  }

  // An integer, a pointer with a length, or the sixteen bytes of a UUID: type_ says which.
  alignas(8) unsigned char storage_[16] = {};
  KeyType type_;
};

static_assert(std::is_trivially_copyable_v<Key>);

/// The canonical bytes of a key, for people (`route --explain`). For a composite the bytes of its
/// parts one after another; what is hashed is each part by itself.
std::string canonical_bytes(const Key& key);

/// As text for people: 4711, 'text', a UUID, x'0aff', (4711, 'text').
std::string describe(const Key& key);

/// A key that owns what it consists of. Immutable; copies share their content, so a copy is cheap
/// and a view stays valid while any copy lives. May be read from any thread.
class KeyValue {
 public:
  /// Copies everything that `key` points to.
  explicit KeyValue(const Key& key);

  Key view() const noexcept;
  operator Key() const noexcept { return view(); }  // NOLINT: implicit on purpose
  KeyType type() const noexcept { return view().type(); }

  friend bool operator==(const KeyValue& left, const KeyValue& right) noexcept {
    return left.view() == right.view();
  }

 private:
  struct Storage {
    std::vector<std::string> texts;
    std::vector<Key> parts;
  };
  std::shared_ptr<const Storage> storage_;
};

/// The kind of key that a keyspace has: one type, or the types of a composite's parts in order.
class KeySpec {
 public:
  KeySpec() : KeySpec(KeyType::int64) {}
  /// Throws Error{invalid_argument} for KeyType::composite, which needs the types of its parts.
  KeySpec(KeyType type);  // NOLINT: implicit on purpose
  /// Throws Error{invalid_argument} if there is no part or one of them is a composite.
  explicit KeySpec(std::vector<KeyType> parts);

  /// Reads "int64", "text", "uuid", "bytes", or a list of them with commas: "int64,text".
  /// Throws Error{invalid_argument} that names the unknown type.
  static KeySpec parse(std::string_view text);
  std::string to_string() const;

  /// KeyType::composite if there is more than one part.
  KeyType type() const noexcept { return parts_.size() == 1 ? parts_.front() : KeyType::composite; }
  const std::vector<KeyType>& parts() const noexcept { return parts_; }

  /// True if `key` is of this kind.
  bool accepts(const Key& key) const noexcept;

  friend bool operator==(const KeySpec&, const KeySpec&) = default;

 private:
  std::vector<KeyType> parts_;
};

/// Throws Error{invalid_argument} that names the key and both types if `key` is not what `spec`
/// asks.
void check_key(const KeySpec& spec, const Key& key);

/// Reads a key as it is written on a command line: an integer in decimal, text as it is, a UUID,
/// bytes in hexadecimal (with or without 0x). The parts of a composite have commas between them; a
/// backslash takes the next character as it is ("42,a\,b"). Throws Error{invalid_argument}.
KeyValue parse_key(const KeySpec& spec, std::string_view text);

/// The key that an SQL value is in a keyspace (or part) of `type`: an integer for int64, text for
/// text, a blob for bytes; for uuid its text or a blob of 16 bytes. The result points into
/// `value`'s memory. Throws Error{invalid_argument} for NULL and for any other type: the value 42.0
/// is not the key 42.
Key key_of(const ValueView& value, KeyType type);

/// The same for the key columns of a row, in the order of the spec's parts.
KeyValue key_of(RowView columns, const KeySpec& spec);

}  // namespace ringshard
