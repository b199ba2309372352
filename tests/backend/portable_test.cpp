#include "backend/portable/portable.hpp"

#include <cmath>
#include <limits>
#include <ringshard/value.hpp>

#include "support/catch.hpp"

namespace ringshard::testing {
namespace {

using portable::plain_decimal;
using portable::plain_json;
using portable::plain_timestamp;

std::string text(ColumnKind kind, const ValueView& value) {
  std::string out;
  portable::append_value(out, kind, value);
  return out;
}

bool is_misfit(ColumnKind kind, const ValueView& value) {
  return text(kind, value).find('\0') != std::string::npos;
}

ValueView operator""_v(const char* bytes, std::size_t size) {
  return std::string_view(bytes, size);
}

}  // namespace

TEST_CASE("the hash of bytes is PostgreSQL's for each length of the last block") {
  // SELECT hashtextextended(left('abc…z', n) COLLATE "C", seed), PostgreSQL 15 on x86-64.
  struct Case {
    std::size_t length;
    std::int64_t seed_0;
    std::int64_t seed_1;
  };
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  for (const Case& known : {Case{0, -6939563903564495251, -150071773020461347},
                            {1, 3591986179850072241, 3325245193489759299},
                            {3, -6747756470228489321, 2125675926272891485},
                            {4, -1038429303365892052, -9042268383291675265},
                            {7, -6158032784613548338, 8893296306369806751},
                            {8, -8882191227074733005, -996835456672934620},
                            {9, -3278210106038014113, 5773402991589158274},
                            {11, 3112909444737856467, 8196382510784792041},
                            {12, -7556637188122330412, -6429754808531195817},
                            {13, 8871624171452417744, 3808842878744369845},
                            {24, -1933194731779935345, -731882798451170301},
                            {26, -6612928417832572997, 1507071677509843718}}) {
    const std::string_view text = letters.substr(0, known.length);
    CHECK(portable::hash_bytes(text, 0) == static_cast<std::uint64_t>(known.seed_0));
    CHECK(portable::hash_bytes(text, 1) == static_cast<std::uint64_t>(known.seed_1));
  }
}

TEST_CASE("a decimal has one text, however it is written") {
  CHECK(plain_decimal("332.20", true) == "332.2");
  CHECK(plain_decimal("+0332.2000", true) == "332.2");
  CHECK(plain_decimal("3.322e2", true) == "332.2");
  CHECK(plain_decimal("2.12902e+06", true) == "2129020");
  CHECK(plain_decimal("-.5", true) == "-0.5");
  CHECK(plain_decimal("-0.00", true) == "0");
  CHECK(plain_decimal("1e-7", true) == "0.0000001");
  CHECK(plain_decimal("100", true) == "100");
  CHECK(plain_decimal("15.0e-1", false) == "1.50");
  CHECK(plain_decimal("1e2", false) == "100");
  for (const char* wrong : {"", ".", "-", "1e", "1x", "0x10", "1e99999999", " 1"})
    CHECK_FALSE(plain_decimal(wrong, true).has_value());
}

TEST_CASE("a moment has one text, however it is written") {
  CHECK(plain_timestamp("2009-01-02 03:04:05.120", true) == "2009-01-02 03:04:05.12");
  CHECK(plain_timestamp("2009-01-02T03:04:05Z", true) == "2009-01-02 03:04:05");
  CHECK(plain_timestamp("2009-01-01 00:30:00+02:00", true) == "2008-12-31 22:30:00");
  CHECK(plain_timestamp("2008-02-28 23:30:00-0130", true) == "2008-02-29 01:00:00");
  CHECK(plain_timestamp("2009-01-02 03:04", true) == "2009-01-02 03:04:00");
  CHECK(plain_timestamp("2009-01-02", false) == "2009-01-02 00:00:00");
  CHECK_FALSE(plain_timestamp("2009-01-02 03:04:05+02", false).has_value());
  for (const char* wrong : {"", "2009", "2009-02-30", "2009-01-02 25:00:00", "infinity",
                            "2009-01-02 03:04:05 BC", "1230866645"})
    CHECK_FALSE(plain_timestamp(wrong, true).has_value());
}

TEST_CASE("JSON has one text, as jsonb writes it") {
  CHECK(plain_json(R"({"bb":1, "a":[1,2 ,{}], "c":"x\u00e9\n", "a":null})") ==
        R"({"a": null, "c": "xé\n", "bb": 1})");
  CHECK(plain_json("[1.10, 1e2, -0, 1E-3, 123456789012345678901234567890]") ==
        "[1.10, 100, 0, 0.001, 123456789012345678901234567890]");
  CHECK(plain_json("[]") == "[]");
  CHECK_FALSE(plain_json("{").has_value());
  CHECK_FALSE(plain_json("").has_value());
}

TEST_CASE("numbers are compared by what they are, not by how a column stores them") {
  CHECK(text(ColumnKind::real8, 1.0) == "3ff0000000000000");
  CHECK(text(ColumnKind::real8, std::int64_t{1}) == "3ff0000000000000");
  CHECK(text(ColumnKind::real8, -0.0) == text(ColumnKind::real8, 0.0));
  CHECK(is_misfit(ColumnKind::real8, std::int64_t{9007199254740993}));
  CHECK(text(ColumnKind::real4, 0.1) == "3dcccccd");
  CHECK(is_misfit(ColumnKind::real4, 0.123456789012));
  CHECK(text(ColumnKind::decimal, 0.1) == "0.1");
  CHECK(text(ColumnKind::decimal, std::int64_t{5}) == text(ColumnKind::decimal, "5.00"_v));
  CHECK(text(ColumnKind::decimal, 1e22) == "10000000000000000000000");
  CHECK(is_misfit(ColumnKind::decimal, "five"_v));
  CHECK(is_misfit(ColumnKind::integer, "5"_v));
  CHECK(is_misfit(ColumnKind::text, std::int64_t{5}));
  CHECK(is_misfit(ColumnKind::bytes, "text"_v));
}

TEST_CASE("no two different rows have the same text") {
  const std::vector<ColumnKind> kinds(2, ColumnKind::text);
  const auto row = [&](const ValueView& left, const ValueView& right) {
    std::string out;
    const ValueView values[] = {left, right};
    portable::append_row(out, kinds, values);
    return out;
  };
  CHECK(row("a"_v, "b"_v) == "(a,b)");
  CHECK(row(Null{}, ""_v) == "(,\"\")");
  CHECK(row("a,b"_v, Null{}) == "(\"a,b\",)");
  CHECK(row("\"\\"_v, " "_v) == R"(("""\\"," "))");
}

TEST_CASE("NULL is the same as NULL alone") {
  CHECK(portable::same(ColumnKind::text, Null{}, Null{}));
  CHECK_FALSE(portable::same(ColumnKind::text, Null{}, ""_v));
  CHECK(portable::same(ColumnKind::uuid, "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"_v,
                       "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"_v));
  CHECK(portable::same(ColumnKind::padded_text, "ab  "_v, "ab"_v));
}

TEST_CASE("tables that do not fit each other are named, with the reason") {
  Table typed;
  typed.name = "t";
  typed.columns = {"id", "name"};
  typed.kinds = {ColumnKind::text, ColumnKind::text};
  typed.key = {"id"};
  typed.key_positions = {0};
  typed.key_collations = {"\"C\""};
  Table untyped = typed;
  untyped.kinds.clear();
  untyped.key_collations = {""};
  const auto problems = [&] { return portable::obstacles({{typed}, {}}, {{untyped}, {}}); };
  CHECK(problems().empty());
  typed.key_collations = {""};
  REQUIRE(problems().size() == 1);
  CHECK(problems()[0].object == "t");
  CHECK(problems()[0].reason.find("COLLATE \"C\"") != std::string::npos);
  typed.kinds[0] = ColumnKind::decimal;
  CHECK(problems().size() == 1);
  typed.columns = {"name", "id"};
  CHECK(problems()[0].reason.find("same order") != std::string::npos);
  typed.columns = untyped.columns;
  typed.kinds[0] = ColumnKind::integer;
  typed.unique_keys = {{"name"}};
  CHECK(problems().size() == 1);
  untyped.unique_keys = {{"name"}};
  CHECK(problems().empty());
  untyped.has_special_unique_keys = true;
  CHECK(problems().size() == 1);
  untyped.has_special_unique_keys = false;
  typed.kinds[1] = ColumnKind::uuid;
  CHECK(problems().size() == 1);
  CHECK(portable::obstacles({{typed}, {}}, {}).size() == 1);
  CHECK(portable::obstacles({}, {{untyped}, {}}).size() == 1);
}

}  // namespace ringshard::testing
