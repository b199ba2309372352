#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {
const std::vector<std::string> items{"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)"};
}

CONFORMANCE_TEST_CASE("every kind of write notes the key that it changed") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  const auto noted = [&](const std::string& sql) {
    const std::size_t before = pair.owner.log().size();
    pair.owner.run(sql);
    std::string text;
    const std::vector<Change> log = pair.owner.log();
    for (std::size_t i = before; i < log.size(); ++i) {
      CHECK(log[i].leg == 1);
      text += describe(log[i].key);
    }
    return text;
  };
  CHECK(noted("INSERT INTO item VALUES (1, 'a'), (2, 'b')") == "(1)(2)");
  CHECK(noted("UPDATE item SET name = 'c' WHERE id = 1") == "(1)");
  CHECK(noted("UPDATE item SET name = name WHERE id = 2") == "(2)");
  CHECK(noted("UPDATE item SET id = 10 WHERE id = 1") == "(1)(10)");
  CHECK(noted("INSERT INTO item VALUES (2, 'z') ON CONFLICT (id) DO UPDATE SET name = 'q'") ==
        "(2)");
  CHECK(noted("INSERT INTO item VALUES (2, 'z') ON CONFLICT DO NOTHING") == "");
  CHECK(noted("INSERT INTO item SELECT id + 100, name FROM item WHERE id = 2") == "(102)");
  CHECK(noted("DELETE FROM item WHERE id = 2") == "(2)");
  CHECK(noted("DELETE FROM item").size() == std::string("(10)(102)").size());
  pair.tail();
  CHECK(pair.owner.digest("item") == pair.target.digest("item"));
}

CONFORMANCE_TEST_CASE("an owner without a peer notes nothing and serves") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.install_capture();
  home.run("INSERT INTO item VALUES (1, 'a')");
  CHECK(home.log().empty());
}

CONFORMANCE_TEST_CASE("changes carry the leg in which they were made") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), moving_owner(4), items);
  home.install_capture();
  home.run("INSERT INTO item VALUES (1, 'a')");
  REQUIRE(home.log().size() == 1);
  CHECK(home.log()[0].leg == 4);
}

CONFORMANCE_TEST_CASE("a change that is rolled back is not noted") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  {
    SessionTransaction tx(pair.owner.application(), pair.owner.name(), TxMode::write, soon());
    pair.owner.application().execute("INSERT INTO item VALUES (1, 'a')");
  }
  CHECK(pair.owner.log().empty());
}

CONFORMANCE_TEST_CASE("a mirror refuses the application's writes and takes applied ones") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  const Table table = pair.target.table("item");
  pair.target.maintain(TxMode::write, [&](HomeStore& store) {
    store.put(table, key(1), row(1, "a"), UniqueConflict::fail);
    return 0;
  });
  CHECK(pair.target.log().empty());
  for (const char* sql :
       {"INSERT INTO item VALUES (2, 'b')", "UPDATE item SET name = 'x'", "DELETE FROM item",
        "INSERT INTO item VALUES (1, 'z') ON CONFLICT (id) "
        "DO UPDATE SET name = 'z'"}) {
    CHECK(error_of([&] { pair.target.run(sql); }) == ErrorCode::not_owner);
  }
  CHECK(same(pair.target.fetch("item", key(1)), row(1, "a")));
}

CONFORMANCE_TEST_CASE("rows that a foreign key's cascade changes are noted") {
  SelectedFixture fixture;
  MovingPair pair(
      fixture,
      {"CREATE TABLE parent (id BIGINT PRIMARY KEY)",
       "CREATE TABLE child (id BIGINT PRIMARY KEY, parent BIGINT REFERENCES parent (id) "
       "ON DELETE CASCADE ON UPDATE CASCADE)",
       "CREATE TABLE tree (id BIGINT PRIMARY KEY, up BIGINT REFERENCES tree (id) ON DELETE "
       "CASCADE)"});
  pair.owner.run("INSERT INTO parent VALUES (1), (2)");
  pair.owner.run("INSERT INTO child VALUES (10, 1), (11, 1), (20, 2)");
  pair.owner.run("INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2)");
  pair.tail();
  pair.owner.run("UPDATE parent SET id = 5 WHERE id = 2");
  pair.owner.run("DELETE FROM parent WHERE id = 1");
  pair.owner.run("DELETE FROM tree WHERE id = 1");
  pair.tail();
  for (const char* table : {"parent", "child", "tree"})
    CHECK(pair.owner.digest(table) == pair.target.digest(table));
  CHECK(pair.target.digest("child").rows == 1);
  CHECK(pair.target.digest("tree").rows == 0);
}

CONFORMANCE_TEST_CASE("applied rows come in any order, whatever foreign keys say") {
  SelectedFixture fixture;
  MovingPair pair(fixture, {"CREATE TABLE parent (id BIGINT PRIMARY KEY)",
                            "CREATE TABLE child (id BIGINT PRIMARY KEY, parent BIGINT REFERENCES "
                            "parent (id) ON DELETE CASCADE)"});
  const Row child{std::int64_t{10}, std::int64_t{1}};
  CHECK(pair.apply({{{1, 1, "child", key(10)}, child}}) == 1);
  CHECK(pair.apply({{{2, 1, "parent", key(1)}, key(1)}}) == 1);
  // Its children are other changes: their own entries say what becomes of them.
  CHECK(pair.apply({{{3, 1, "parent", key(1)}, std::nullopt}}) == 1);
  CHECK(pair.target.digest("child").rows == 1);
}

CONFORMANCE_TEST_CASE("capture may be installed twice, and is gone when it is removed") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), moving_owner(), items);
  const auto has = [&] {
    return home.maintain(TxMode::read, [](HomeStore& store) {
      return store.dialect().has_capture(store.session());
    });
  };
  const auto remove = [&] {
    for (bool removed = false; !removed;)
      removed = home.maintain(TxMode::exclusive, [](HomeStore& store) {
        return store.dialect().remove_capture(store.session(), 1);
      });
  };
  CHECK_FALSE(has());
  remove();
  home.install_capture();
  home.run("INSERT INTO item VALUES (1, 'a')");
  home.install_capture();
  CHECK(has());
  CHECK(home.logged() == "item(1)");
  home.run("INSERT INTO item VALUES (2, 'a')");
  CHECK(home.logged() == "item(1) item(2)");
  remove();
  CHECK_FALSE(has());
  home.run("INSERT INTO item VALUES (3, 'a')");
  home.set_record(mirror());
  home.run("INSERT INTO item VALUES (4, 'a')");
  CHECK(home.digest("item").rows == 4);
}

CONFORMANCE_TEST_CASE("what ringshard adds to a home is no part of its schema") {
  SelectedFixture fixture;
  MovingPair pair(fixture, {items[0], "CREATE INDEX item_name ON item (name)",
                            "CREATE VIEW names AS SELECT name FROM item"});
  const auto schema = [](TestHome& home) {
    return home.maintain(TxMode::read, [](HomeStore& store) {
      return store.dialect().describe_schema(store.session());
    });
  };
  const HomeSchema with_capture = schema(pair.owner);
  CHECK(with_capture.tables.size() == 1);
  CHECK(with_capture.statements.size() == 3);
  TestHome plain(fixture.open_node("plain"), at_rest(), with_capture.statements);
  CHECK(schema(plain) == with_capture);
}

CONFORMANCE_TEST_CASE("what stands in the way of a move is named") {
  SelectedFixture fixture;
  std::string wide = "CREATE TABLE wide (";
  std::string wide_key;
  for (int i = 0; i < 17; ++i) {
    wide += "c" + std::to_string(i) + " BIGINT, ";
    wide_key += (i > 0 ? ", c" : "c") + std::to_string(i);
  }
  TestHome home(fixture.open_node("a"), at_rest(),
                {items[0], "CREATE TABLE bare (a BIGINT)",
                 "CREATE TABLE ringshard_mine (id BIGINT "
                 "PRIMARY KEY)",
                 wide + "PRIMARY KEY (" + wide_key + "))"});
  std::string found;
  home.maintain(TxMode::read, [&](HomeStore& store) {
    for (const Obstacle& obstacle : store.dialect().obstacles(
             store.session(), store.dialect().describe_schema(store.session()))) {
      found += obstacle.object + " ";
      CHECK(obstacle.reason.size() > 20);
    }
    return 0;
  });
  CHECK(found == "ringshard_mine bare wide ");
}

CONFORMANCE_TEST_CASE("a home that is being moved has no obstacles of ringshard's own") {
  SelectedFixture fixture;
  MovingPair pair(fixture, {"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT UNIQUE)"});
  pair.owner.maintain(TxMode::read, [](HomeStore& store) {
    CHECK(store.dialect()
              .obstacles(store.session(), store.dialect().describe_schema(store.session()))
              .empty());
    return 0;
  });
}

CONFORMANCE_TEST_CASE("names of any kind are captured, copied and compared") {
  SelectedFixture fixture;
  const std::string order = quoted(std::string_view("Order"));
  const std::string odd = quoted(std::string_view("sel\"ect it's {id} größe"));
  MovingPair pair(
      fixture, {"CREATE TABLE " + order + " (\"select\" BIGINT PRIMARY KEY, \"leg\" TEXT UNIQUE)",
                "CREATE TABLE " + odd +
                    " (\"a \"\"b\" TEXT, \"größe\" BIGINT, \"peer\" TEXT, "
                    "PRIMARY KEY (\"größe\", \"a \"\"b\"))"});
  pair.owner.run("INSERT INTO " + order + " VALUES (1, 'x'), (2, 'y')");
  pair.owner.run("INSERT INTO " + odd + " VALUES ('a', 1, 'p'), ('b', 1, NULL)");
  CHECK(pair.owner.log().size() == 4);
  pair.tail();
  pair.owner.run("UPDATE " + order + " SET \"leg\" = 'z' WHERE \"select\" = 2");
  pair.owner.run("DELETE FROM " + odd + " WHERE \"a \"\"b\" = 'a'");
  CHECK(pair.backfill("Order") == 0);
  pair.tail();
  for (const char* table : {"Order", "sel\"ect it's {id} größe"}) {
    CHECK(pair.owner.digest(table) == pair.target.digest(table));
    CHECK(pair.owner.digest(table).rows > 0);
  }
}
