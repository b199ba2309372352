#include <algorithm>
#include <cstdint>
#include <limits>
#include <ringshard/error.hpp>
#include <ringshard/value.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace ringshard {
namespace {

ErrorCode code_of_decoding(const std::string& bytes) {
  try {
    decode_row(bytes);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

bool same(const Row& left, const Row& right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!identical(left[i], right[i])) return false;
  }
  return true;
}

const std::vector<Row>& hard_rows() {
  static const std::vector<Row> rows = {
      {},
      {Null{}},
      {std::string()},
      {Blob{}},
      {std::string("a\0b", 3), Blob{std::string("\0\xff", 2)}},
      {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()},
      {std::int64_t{9007199254740993}, 9007199254740992.0},
      {0.0, -0.0, std::numeric_limits<double>::infinity(),
       -std::numeric_limits<double>::infinity()},
      {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::denorm_min()},
      {std::int64_t{1}, 1.0, std::string("1"), Blob{"1"}},
      {std::string("a"), std::string("b")},
      {std::string("ab"), std::string()},
      {std::string("a"), Null{}, std::string("b")}};
  return rows;
}

TEST_CASE("every row comes back from its bytes bit by bit") {
  for (const Row& row : hard_rows()) {
    INFO(describe(row));
    CHECK(same(decode_row(encode_row(row)), row));
  }
}

TEST_CASE("no two different rows have the same bytes") {
  for (const Row& left : hard_rows()) {
    for (const Row& right : hard_rows()) {
      CHECK((encode_row(left) == encode_row(right)) == (&left == &right));
    }
  }
}

TEST_CASE("the bytes of a row are a stored format") {
  const Row row = {Null{}, std::int64_t{-2}, 1.0, std::string("ab"), Blob{"\xff"}};
  const std::string expected(
      "\x00"
      "\x01\xfe\xff\xff\xff\xff\xff\xff\xff"
      "\x02\x00\x00\x00\x00\x00\x00\xf0\x3f"
      "\x03\x02\x00\x00\x00"
      "ab"
      "\x04\x01\x00\x00\x00\xff",
      1 + 9 + 9 + 7 + 6);
  CHECK(encode_row(row) == expected);
  CHECK(encode_row(RowView(view(row))) == expected);
}

TEST_CASE("a row that was cut off anywhere but between values is corrupt") {
  const Row row = {std::int64_t{5}, std::string("text"), Blob{"bytes"}, 2.5};
  const std::string whole = encode_row(row);
  std::string part;
  std::vector<std::size_t> ends = {0};
  for (const Value& value : row) {
    append_encoded(part, view(value));
    ends.push_back(part.size());
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const bool between = std::find(ends.begin(), ends.end(), size) != ends.end();
    INFO(size);
    if (between) {
      CHECK_NOTHROW(decode_row(whole.substr(0, size)));
    } else {
      CHECK(code_of_decoding(whole.substr(0, size)) == ErrorCode::corrupt);
    }
  }
}

TEST_CASE("unknown tags and impossible lengths are corrupt") {
  CHECK(code_of_decoding("\x05") == ErrorCode::corrupt);
  CHECK(code_of_decoding("\xff") == ErrorCode::corrupt);
  CHECK(code_of_decoding(std::string("\x03\xff\xff\xff\xff", 5) + "abc") == ErrorCode::corrupt);
}

TEST_CASE("values are identical only with equal type and equal bits") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(identical(Null{}, Null{}));
  CHECK(identical(nan, nan));
  CHECK_FALSE(identical(0.0, -0.0));
  CHECK_FALSE(identical(std::int64_t{1}, 1.0));
  CHECK_FALSE(identical(std::int64_t{1}, std::string("1")));
  CHECK_FALSE(identical(std::string("1"), Blob{"1"}));
  CHECK_FALSE(identical(std::string(), Null{}));
  CHECK(identical(std::string("a\0", 2), std::string("a\0", 2)));
}

TEST_CASE("a value survives the way to a view and back") {
  for (const Row& row : hard_rows()) CHECK(same(to_row(view(row)), row));
}

TEST_CASE("descriptions tell types apart and never grow with the value") {
  CHECK(describe(ValueView(Null{})) == "NULL");
  CHECK(describe(ValueView(std::int64_t{1})) == "1");
  CHECK(describe(ValueView(1.0)) == "1.0");
  CHECK(describe(ValueView(-0.0)) == "-0.0");
  CHECK(describe(ValueView(0.1)) == "0.1");
  CHECK(describe(ValueView(std::string_view("it's"))) == "'it''s'");
  CHECK(describe(ValueView(std::string_view("a\nb"))) == "'a\\x0ab'");
  CHECK(describe(ValueView(BlobView{"\x0a\xff"})) == "x'0aff'");
  CHECK(describe(Row{std::int64_t{1}, Null{}, std::string("x")}) == "(1, NULL, 'x')");
  const std::string large(1 << 20, 'x');
  CHECK(describe(ValueView(std::string_view(large)), 10) == "'xxxxxxxx…");
  CHECK(describe(ValueView(BlobView{large}), 10) == "x'7878787…");
  const std::string broken(1 << 20, '\x80');
  CHECK(describe(ValueView(std::string_view(broken)), 10).size() < 100);
}

TEST_CASE("a description is never cut inside a character") {
  CHECK(describe(ValueView(std::string_view("äöüß")), 4) == "'äö…");
  CHECK(describe(ValueView(std::string_view("äöüß")), 6) == "'äöüß'");
}

}  // namespace
}  // namespace ringshard
