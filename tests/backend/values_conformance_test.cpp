#include <cmath>
#include <limits>

#include "backend/fixtures.hpp"
#include "support/sanitizer.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

// Writes rows at the owner's table `v` through its application session, copies one half by backfill
// and the other by the change log, and returns the rows as they are at the target.
void check_copies(BackendFixture& fixture, const std::vector<std::string>& statements,
                  const std::vector<Row>& rows) {
  MovingPair pair(fixture, statements);
  const Table table = pair.owner.table("v");
  const std::string insert = "INSERT INTO v (" + quoted_list(table.columns) + ") VALUES (" +
                             placeholders(table.columns.size()) + ")";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % 2 == 0)
      pair.owner.maintain(TxMode::write, [&](HomeStore& store) {
        return store.session().execute(insert, view(rows[i]));
      });
    else
      pair.owner.apply([&](Session& session) { session.execute(insert, view(rows[i])); });
  }
  pair.tail();
  pair.backfill("v");
  CHECK(pair.owner.digest("v") == pair.target.digest("v"));
  CHECK(pair.target.digest("v").rows == static_cast<std::int64_t>(rows.size()));
  for (const Row& values : rows) {
    const Row row_key{values[table.key_positions[0]]};
    const auto at_owner = pair.owner.fetch("v", row_key);
    REQUIRE(at_owner.has_value());
    INFO(describe(*at_owner));
    CHECK(same(at_owner, pair.target.fetch("v", row_key)));
  }
}

}  // namespace

CONFORMANCE_TEST_CASE("texts, blobs and NULL arrive as they are") {
  SelectedFixture fixture;
  const std::string zero("a\0b", 3);
  check_copies(fixture,
               {"CREATE TABLE v (id BIGINT PRIMARY KEY, t TEXT, b " + fixture.blob_type() + ")"},
               {{std::int64_t{1}, Null{}, Null{}},
                {std::int64_t{2}, std::string(), Blob{}},
                {std::int64_t{3}, std::string("null"), Blob{zero}},
                {std::int64_t{4}, std::string("it's \"quoted\" \\ größe 你好"), Blob{"\xff\xfe"}}});
}

CONFORMANCE_TEST_CASE("a blob of 64 MB arrives as it is") {
  SelectedFixture fixture;
  std::string large(large_value_bytes, 'x');
  for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>(i >> 12U);
  check_copies(fixture, {"CREATE TABLE v (id BIGINT PRIMARY KEY, b " + fixture.blob_type() + ")"},
               {{std::int64_t{1}, Blob{large}}});
}

CONFORMANCE_TEST_CASE("numbers at their limits arrive bit by bit") {
  SelectedFixture fixture;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Row> rows;
  std::int64_t id = 0;
  for (const std::int64_t number :
       {std::int64_t{9007199254740993}, std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}, std::int64_t{0}})
    rows.push_back({++id, number, Null{}});
  for (const double number : {0.1, -0.0, 1.0, infinity, -infinity, 5e-324, 1.7976931348623157e308})
    rows.push_back({++id, Null{}, number});
  check_copies(
      fixture,
      {"CREATE TABLE v (id BIGINT PRIMARY KEY, i BIGINT, d " + fixture.double_type() + ")"}, rows);
}

CONFORMANCE_TEST_CASE("a value of any type in a column without one arrives as it is") {
  SelectedFixture fixture;
  if (fixture.open_node("a")->dialect().quirks().typed_columns) return;
  check_copies(fixture, {"CREATE TABLE v (id PRIMARY KEY, x)"},
               {{std::int64_t{1}, std::int64_t{1}},
                {std::string("1"), 1.0},
                {2.5, std::string("1")},
                {Blob{"1"}, -0.0},
                {std::string("2"), Blob{"1"}},
                {std::string("NULL"), Null{}}});
}

CONFORMANCE_TEST_CASE("generated columns are left to the target") {
  SelectedFixture fixture;
  check_copies(fixture,
               {"CREATE TABLE v (id BIGINT PRIMARY KEY, n BIGINT, twice BIGINT GENERATED ALWAYS AS "
                "(n * 2) STORED)"},
               {{std::int64_t{1}, std::int64_t{21}}, {std::int64_t{2}, Null{}}});
}
