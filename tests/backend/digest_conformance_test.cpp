#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

std::vector<std::string> pairs(BackendFixture& fixture) {
  return {"CREATE TABLE pair (id BIGINT PRIMARY KEY, a TEXT, b TEXT, c " + fixture.blob_type() +
          ")"};
}

// The digest of a table `pair` that holds these rows.
class Digests {
 public:
  explicit Digests(BackendFixture& fixture)
      : home_(fixture.open_node("a"), at_rest(), pairs(fixture)) {}

  Digest of(const std::vector<Row>& rows) {
    const Table table = home_.table("pair");
    home_.maintain(TxMode::write, [&](HomeStore& store) {
      store.session().execute("DELETE FROM pair");
      for (const Row& values : rows)
        store.put(table, Row{values.front()}, values, UniqueConflict::fail);
      return 0;
    });
    return home_.digest("pair");
  }

 private:
  TestHome home_;
};

Value text(const char* value) { return std::string(value); }
Value blob(std::string bytes) { return Blob{std::move(bytes)}; }
Value id(std::int64_t number) { return number; }

}  // namespace

CONFORMANCE_TEST_CASE("a digest finds what makes two tables differ") {
  SelectedFixture fixture;
  Digests digest(fixture);
  const auto differ = [&](const std::vector<Row>& left, const std::vector<Row>& right) {
    const Digest first = digest.of(left);
    const Digest second = digest.of(right);
    CHECK(first == digest.of(left));
    return first != second;
  };
  const Row base{id(1), text("a"), text("b"), blob("cc")};
  CHECK(differ({base}, {{id(1), text("a"), text("b"), blob("cb")}}));  // one bit
  CHECK(differ({base}, {{id(1), text("b"), text("a"), blob("cc")}}));  // columns swapped
  CHECK(differ({base}, {{id(1), text("ab"), text(""), blob("cc")}}));  // ('a','b'), ('ab','')
  CHECK(differ({{id(1), text(""), text("b"), Null{}}}, {{id(1), Null{}, text("b"), Null{}}}));
  CHECK(differ({{id(1), text("x"), Null{}, Null{}}}, {{id(1), Null{}, text("x"), Null{}}}));
  CHECK(differ({{id(1), Null{}, Null{}, blob("")}}, {{id(1), Null{}, Null{}, Null{}}}));
  // Two rows' values swapped; as many rows, but others.
  CHECK(differ({{id(1), text("a"), Null{}, Null{}}, {id(2), text("b"), Null{}, Null{}}},
               {{id(1), text("b"), Null{}, Null{}}, {id(2), text("a"), Null{}, Null{}}}));
  CHECK(differ({{id(1), text("a"), Null{}, Null{}}, {id(2), text("a"), Null{}, Null{}}},
               {{id(1), text("a"), Null{}, Null{}}, {id(3), text("a"), Null{}, Null{}}}));
}

CONFORMANCE_TEST_CASE("a digest does not depend on the order in which rows were written") {
  SelectedFixture fixture;
  Digests digest(fixture);
  std::vector<Row> rows;
  for (std::int64_t i = 0; i < 50; ++i)
    rows.push_back({id(i), text("a"), Null{}, blob(std::string(static_cast<std::size_t>(i), 'x'))});
  const Digest forward = digest.of(rows);
  CHECK(forward.rows == 50);
  CHECK(digest.of({rows.rbegin(), rows.rend()}) == forward);
}

CONFORMANCE_TEST_CASE("the digests of the parts of a table add up to the whole") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), pairs(fixture));
  for (int i = 1; i <= 9; ++i)
    home.run("INSERT INTO pair (id, a) VALUES (" + std::to_string(i) + ", 'x')");
  const Digest whole = home.digest("pair");
  Digest sum = home.digest("pair", {std::nullopt, key(3)});
  CHECK(sum.rows == 3);
  sum += home.digest("pair", {key(3), key(7)});
  CHECK(sum.rows == 7);
  sum += home.digest("pair", {key(7), std::nullopt});
  CHECK(sum == whole);
}

CONFORMANCE_TEST_CASE("the ends of chunks divide a table, and any range of it, without a gap") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(),
                {"CREATE TABLE line (note TEXT, pos BIGINT, invoice TEXT, "
                 "PRIMARY KEY (invoice, pos))"});
  for (const char* invoice : {"a", "b", "c"})
    for (int pos = 1; pos <= 3; ++pos)
      home.run("INSERT INTO line VALUES ('x', " + std::to_string(pos) + ", '" + invoice + "')");
  const Table table = home.table("line");
  const auto end_of = [&](const KeyRange& range, std::size_t rows) {
    return home.maintain(TxMode::read, [&](HomeStore& store) {
      const auto end = store.chunk_end(table, range, rows);
      return end ? describe(*end) : "none";
    });
  };
  const Row from{text("a"), id(2)};
  const Row through{text("c"), id(1)};
  CHECK(end_of({}, 1) == "('a', 1)");
  CHECK(end_of({}, 9) == "('c', 3)");
  CHECK(end_of({}, 10) == "none");
  CHECK(end_of({from, std::nullopt}, 4) == "('b', 3)");
  CHECK(end_of({from, std::nullopt}, 8) == "none");
  CHECK(end_of({std::nullopt, through}, 7) == "('c', 1)");
  CHECK(end_of({std::nullopt, through}, 8) == "none");
  CHECK(end_of({from, through}, 5) == "('c', 1)");
  CHECK(end_of({from, through}, 6) == "none");
  CHECK(home.digest("line", {from, through}).rows == 5);
}

CONFORMANCE_TEST_CASE("the digest of some keys counts the rows that are there") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(),
                {"CREATE TABLE line (part TEXT NOT NULL, number BIGINT NOT NULL, v TEXT, PRIMARY "
                 "KEY (number, "
                 "part))",
                 "CREATE TABLE item (id BIGINT NOT NULL PRIMARY KEY, v TEXT)"});
  home.run("INSERT INTO item VALUES (1, 'one'), (2, 'two'), (3, NULL)");
  home.run("INSERT INTO line VALUES ('a', 1, 'x'), ('b', 1, 'y'), ('a', 2, NULL), ('b', 2, 'z')");
  const auto digest_of = [&](const std::string& table, const std::vector<Row>& keys) {
    const Table described = home.table(table);
    return home.maintain(TxMode::read, [&](HomeStore& store) {
      return store.dialect().digest(store.session(), described, std::span(keys));
    });
  };
  const auto id = [](std::int64_t number) { return Value(number); };
  const auto text = [](const char* bytes) { return Value(std::string(bytes)); };

  CHECK(digest_of("item", {}) == Digest{});
  CHECK(digest_of("item", {{id(7)}, {id(8)}}) == Digest{});
  CHECK(digest_of("item", {{id(2)}}).rows == 1);
  CHECK(digest_of("item", {{id(3)}, {id(7)}, {id(1)}, {id(2)}}) == home.digest("item"));
  CHECK(digest_of("line", {{id(1), text("b")}, {id(2), text("a")}, {id(3), text("a")}}).rows == 2);
  CHECK(
      digest_of("line",
                {{id(1), text("a")}, {id(2), text("b")}, {id(1), text("b")}, {id(2), text("a")}}) ==
      home.digest("line"));
  Digest parts = digest_of("line", {{id(1), text("a")}});
  parts += digest_of("line", {{id(2), text("b")}, {id(1), text("b")}, {id(2), text("a")}});
  CHECK(parts == home.digest("line"));

  // More keys than one statement is about.
  std::vector<Row> many;
  for (std::int64_t number = -1'200; number < 1'200; ++number) many.push_back({id(number)});
  CHECK(digest_of("item", many) == home.digest("item"));
}

CONFORMANCE_TEST_CASE("the digest of no rows is zero and says so") {
  SelectedFixture fixture;
  Digests digest(fixture);
  CHECK(digest.of({}) == Digest{});
  CHECK(digest.of({}).rows == 0);
}

TEST_CASE("equal rows do not cancel out in a digest, and sums carry over") {
  Digest digest;
  digest.add(7, 9);
  digest.add(7, 9);
  CHECK(digest == Digest{2, 14, 18});
  digest.add(~std::uint64_t{0}, 0);
  CHECK(digest == Digest{3, 13, 19});
}

TEST_CASE("the hash of a row is a stored value that never changes") {
  // XXH3_128bits of encode_row(), so that digests of any two versions and databases compare.
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), {"CREATE TABLE t (id INTEGER PRIMARY KEY, v)"});
  home.run("INSERT INTO t VALUES (1, 'one'), (2, NULL), (3, 2.5), (4, x'00ff')");
  CHECK(home.digest("t").str() == "4 rows, 866608195c177dac5c2a2d9af692c6ce");
}
