#include <cstdint>
#include <limits>
#include <optional>
#include <ringshard/error.hpp>
#include <ringshard/key.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

namespace ringshard {
namespace {

template <class Work>
std::optional<ErrorCode> code_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

template <class Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr auto invalid = ErrorCode::invalid_argument;
constexpr const char* uuid_text = "123e4567-e89b-12d3-a456-426614174000";

TEST_CASE("integers of every width are int64 keys, truth values and characters are no keys") {
  CHECK(Key(std::int8_t{-1}) == Key(std::int64_t{-1}));
  CHECK(Key(std::uint8_t{200}) == Key(200));
  CHECK(Key(42U) == Key(42LL));
  CHECK(Key(0).type() == KeyType::int64);
  CHECK(Key(std::numeric_limits<std::int64_t>::min()).integer() ==
        std::numeric_limits<std::int64_t>::min());
  STATIC_REQUIRE_FALSE(std::is_convertible_v<bool, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<char, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<char32_t, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<double, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<float, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<std::nullptr_t, Key>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<const int*, Key>);
  STATIC_REQUIRE(std::is_trivially_copyable_v<Key>);
}

TEST_CASE("an unsigned integer above the range of int64 is refused by its name") {
  CHECK(Key(std::uint64_t{9223372036854775807ULL}).integer() ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(code_of([] { Key(std::uint64_t{9223372036854775808ULL}); }) == invalid);
  CHECK(contains(message_of([] { Key(std::uint64_t{18446744073709551615ULL}); }),
                 "18446744073709551615"));
}

TEST_CASE("text, bytes and UUIDs with the same bytes are different keys") {
  const std::string text = "abc";
  CHECK(Key(text) == Key("abc"));
  CHECK(Key(text) == Key(std::string_view("abc")));
  CHECK_FALSE(Key(text) == Key(BlobView{"abc"}));
  CHECK_FALSE(Key("42") == Key(42));
  const Uuid uuid = Uuid::parse(uuid_text);
  CHECK(Key(uuid).type() == KeyType::uuid);
  CHECK_FALSE(Key(uuid) == Key(BlobView{Key(uuid).bytes()}));
  CHECK(code_of([] { Key(static_cast<const char*>(nullptr)); }) == invalid);
}

TEST_CASE("integers are eight little-endian bytes, all else is taken as it is") {
  CHECK(canonical_bytes(4711) == std::string("\x67\x12\0\0\0\0\0\0", 8));
  CHECK(canonical_bytes(-1) == std::string(8, '\xff'));
  CHECK(canonical_bytes("Grüße") == "Grüße");
  CHECK(canonical_bytes(BlobView{std::string_view("\0\xff", 2)}) == std::string("\0\xff", 2));
  CHECK(canonical_bytes(Uuid::parse(uuid_text)) ==
        std::string("\x12\x3e\x45\x67\xe8\x9b\x12\xd3\xa4\x56\x42\x66\x14\x17\x40\x00", 16));
  CHECK(canonical_bytes({"a", 1}) == std::string("a\x01\0\0\0\0\0\0\0", 9));
}

TEST_CASE("a composite has two parts or more, and one part in braces is that part") {
  const auto type_of = [](const Key& key) { return key.type(); };
  CHECK(type_of({42, "orders"}) == KeyType::composite);
  CHECK(type_of({42}) == KeyType::int64);
  const Key key("copied");
  const Key copy{key};
  CHECK(copy == key);
  CHECK(code_of([] { Key(std::span<const Key>()); }) == invalid);
  const std::vector<Key> parts = {1, "two"};
  const Key composite(parts);
  CHECK(composite.parts().size() == 2);
  CHECK(code_of([&] { Key({composite, 3}); }) == invalid);
}

TEST_CASE("a kept key outlives the memory that it was made from") {
  std::optional<KeyValue> kept;
  {
    const std::string tenant = "tenant";
    const std::string bytes = "\x01\x02";
    kept.emplace(Key({tenant, 7, BlobView{bytes}, Uuid::parse(uuid_text)}));
  }
  const KeyValue copy = *kept;
  kept.reset();
  CHECK(describe(copy) == "('tenant', 7, x'0102', 123e4567-e89b-12d3-a456-426614174000)");
  CHECK(KeyValue(Key(5)).view() == Key(5));
}

TEST_CASE("UUIDs are read in either case, with hyphens or without") {
  const Uuid uuid = Uuid::parse(uuid_text);
  CHECK(uuid.to_string() == uuid_text);
  CHECK(Uuid::parse("123E4567-E89B-12D3-A456-426614174000") == uuid);
  CHECK(Uuid::parse("123e4567e89b12d3a456426614174000") == uuid);
  for (const char* text :
       {"", "123e4567", "123e4567-e89b-12d3-a456-42661417400g",
        "123e4567e-89b-12d3-a456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
        "----------------123e4567e89b12d3a456"}) {
    INFO(text);
    CHECK(code_of([&] { Uuid::parse(text); }) == invalid);
  }
}

TEST_CASE("a key type is read as it is written") {
  for (const char* text : {"int64", "text", "uuid", "bytes", "int64,text", "uuid,int64,bytes"}) {
    CHECK(KeySpec::parse(text).to_string() == text);
  }
  CHECK(KeySpec::parse("int64, text") == KeySpec::parse("int64,text"));
  CHECK(KeySpec::parse("int64,text").type() == KeyType::composite);
  for (const char* text : {"", "int", "composite", "int64,", ",", "INT64"}) {
    INFO(text);
    CHECK(code_of([&] { KeySpec::parse(text); }) == invalid);
  }
  CHECK(contains(message_of([] { KeySpec::parse("int64,number"); }), "'number'"));
}

TEST_CASE("keys of the command line are read by the keyspace's type") {
  CHECK(parse_key(KeyType::int64, "4711").view() == Key(4711));
  CHECK(parse_key(KeyType::int64, "-9223372036854775808").view() ==
        Key(std::numeric_limits<std::int64_t>::min()));
  CHECK(parse_key(KeyType::text, "4711, and more").view() == Key("4711, and more"));
  CHECK(parse_key(KeyType::text, "").view() == Key(""));
  CHECK(parse_key(KeyType::uuid, uuid_text).view() == Key(Uuid::parse(uuid_text)));
  CHECK(parse_key(KeyType::bytes, "00ff").view() == Key(BlobView{std::string_view("\0\xff", 2)}));
  CHECK(parse_key(KeyType::bytes, "0x00FF").view() == parse_key(KeyType::bytes, "00ff").view());
  const KeySpec spec = KeySpec::parse("int64,text");
  CHECK(parse_key(spec, "42,orders").view() == Key({42, "orders"}));
  CHECK(parse_key(spec, "42,a\\,b\\\\").view() == Key({42, "a,b\\"}));
  CHECK(parse_key(spec, "42,").view() == Key({42, ""}));
}

TEST_CASE("a key that can not be read is refused with its text") {
  for (const char* text : {"", "x", "4711x", " 4711", "+1", "4711.0", "0x10"}) {
    INFO(text);
    CHECK(code_of([&] { parse_key(KeyType::int64, text); }) == invalid);
  }
  CHECK(contains(message_of([] { parse_key(KeyType::int64, "abc"); }), "'abc'"));
  CHECK(contains(message_of([] { parse_key(KeyType::int64, "9223372036854775808"); }), "range"));
  CHECK(code_of([] { parse_key(KeyType::bytes, "0"); }) == invalid);
  CHECK(code_of([] { parse_key(KeyType::bytes, "zz"); }) == invalid);
  CHECK(code_of([] { parse_key(KeyType::uuid, "42"); }) == invalid);
  const KeySpec spec = KeySpec::parse("int64,text");
  CHECK(code_of([&] { parse_key(spec, "42"); }) == invalid);
  CHECK(code_of([&] { parse_key(spec, "42,a,b"); }) == invalid);
}

TEST_CASE("an SQL value becomes a key only if it has the type of the keyspace") {
  const Uuid uuid = Uuid::parse(uuid_text);
  CHECK(key_of(std::int64_t{42}, KeyType::int64) == Key(42));
  CHECK(key_of(std::string_view("a"), KeyType::text) == Key("a"));
  CHECK(key_of(BlobView{"a"}, KeyType::bytes) == Key(BlobView{"a"}));
  CHECK(key_of(std::string_view(uuid_text), KeyType::uuid) == Key(uuid));
  CHECK(key_of(BlobView{Key(uuid).bytes()}, KeyType::uuid) == Key(uuid));
  const std::vector<ValueView> values = {Null{}, std::int64_t{1}, 1.0, std::string_view("1"),
                                         BlobView{"1"}};
  const std::vector<KeyType> types = {KeyType::int64, KeyType::text, KeyType::uuid, KeyType::bytes};
  int accepted = 0;
  for (const ValueView& value : values) {
    for (const KeyType type : types) {
      const auto code = code_of([&] { key_of(value, type); });
      CHECK((!code || code == invalid));
      accepted += code ? 0 : 1;
    }
  }
  CHECK(accepted == 3);
  CHECK(code_of([] { key_of(std::int64_t{1}, KeyType::composite); }) == invalid);
  CHECK(contains(message_of([] { key_of(Null{}, KeyType::int64); }), "NULL"));
}

TEST_CASE("the key columns of a row become a composite key") {
  const KeySpec spec = KeySpec::parse("int64,text");
  const Row row = {std::int64_t{42}, std::string("orders")};
  CHECK(key_of(view(row), spec).view() == Key({42, "orders"}));
  const Row nulls = {std::int64_t{42}, Null{}};
  CHECK(code_of([&] { key_of(view(nulls), spec); }) == invalid);
  const Row short_row = {std::int64_t{42}};
  CHECK(code_of([&] { key_of(view(short_row), spec); }) == invalid);
  CHECK(key_of(view(short_row), KeySpec(KeyType::int64)).view() == Key(42));
}

TEST_CASE("a key of another type than the keyspace's is refused with both types") {
  CHECK_NOTHROW(check_key(KeyType::int64, 42));
  CHECK(code_of([] { check_key(KeyType::int64, "42"); }) == invalid);
  CHECK(code_of([] { check_key(KeySpec::parse("int64,text"), {"42", "orders"}); }) == invalid);
  CHECK(code_of([] { check_key(KeySpec::parse("int64,text"), 42); }) == invalid);
  const std::string message = message_of([] { check_key(KeyType::uuid, {1, "a"}); });
  CHECK(contains(message, "int64,text"));
  CHECK(contains(message, "uuid"));
}

}  // namespace
}  // namespace ringshard
