#include <thread>

#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {
const std::vector<std::string> items{"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)"};
}

CONFORMANCE_TEST_CASE("a transaction that is not committed leaves nothing behind") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    CHECK(session.in_transaction());
    CHECK(session.execute("INSERT INTO item VALUES ($1, $2)",
                          {std::int64_t{1}, std::string_view("x")}) == 1);
    CHECK(session.integer("SELECT count(*) FROM item") == 1);
  }
  CHECK_FALSE(session.in_transaction());
  CHECK(home.digest("item").rows == 0);
  home.run("INSERT INTO item VALUES (1, 'x')");
  CHECK(home.digest("item").rows == 1);
}

CONFORMANCE_TEST_CASE("a transaction returns the home's record") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), moving_owner(3), items);
  for (const TxMode mode : {TxMode::read, TxMode::write, TxMode::exclusive}) {
    SessionTransaction tx(home.application(), home.name(), mode, soon());
    CHECK(tx.record() == moving_owner(3));
  }
}

CONFORMANCE_TEST_CASE("a reference home has no record") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  const HomeName reference{"shop", std::nullopt};
  HomeSchema schema;
  schema.statements = items;
  backend->create_home(reference, std::nullopt, schema);
  const auto session = backend->connect(reference, SessionUse::application);
  SessionTransaction tx(*session, reference, TxMode::write, soon());
  CHECK_FALSE(tx.record().has_value());
  session->execute("INSERT INTO item VALUES (1, 'x')");
  tx.commit();
}

CONFORMANCE_TEST_CASE("what a home's sessions ask for joins with the reference home") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  HomeSchema schema;
  schema.statements = {"CREATE TABLE genre (id BIGINT PRIMARY KEY, label TEXT)"};
  const HomeName reference{"shop", std::nullopt};
  backend->create_home(reference, std::nullopt, schema);
  {
    const auto session = backend->connect(reference, SessionUse::application);
    SessionTransaction tx(*session, reference, TxMode::write, soon());
    session->execute("INSERT INTO genre VALUES (1, 'Rock')");
    tx.commit();
  }
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'x')");
  SessionTransaction tx(home.application(), home.name(), TxMode::write, soon());
  const auto found =
      home.application().first_row("SELECT name, label FROM item JOIN genre ON genre.id = item.id");
  REQUIRE(found.has_value());
  CHECK(describe(*found) == "('x', 'Rock')");
  CHECK(error_of([&] { home.application().execute("DELETE FROM genre"); }) == ErrorCode::read_only);
}

CONFORMANCE_TEST_CASE("an exclusive transaction and a write exclude each other") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const auto other = home.another();
  const auto begin = [&](Session& session, TxMode mode) {
    return error_of([&] { SessionTransaction(session, home.name(), mode, at_once()); });
  };
  {
    SessionTransaction tx(home.application(), home.name(), TxMode::exclusive, soon());
    CHECK(begin(*other, TxMode::write) == ErrorCode::conflict);
    CHECK(begin(*other, TxMode::exclusive) == ErrorCode::conflict);
    CHECK_FALSE(other->in_transaction());
    CHECK(begin(*other, TxMode::read) == std::nullopt);
  }
  SessionTransaction tx(home.application(), home.name(), TxMode::write, soon());
  CHECK(begin(*other, TxMode::exclusive) == ErrorCode::conflict);
  if (!home.dialect().quirks().concurrent_writers)
    CHECK(begin(*other, TxMode::write) == ErrorCode::conflict);
}

CONFORMANCE_TEST_CASE("a lock that becomes free is had by who waits for it") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const auto holder = home.another();
  holder->begin_home(home.name(), TxMode::exclusive, soon());
  std::optional<HomeRecord> seen;
  std::thread waiter([&] {
    SessionTransaction tx(home.application(), home.name(), TxMode::write, soon());
    seen = tx.record();
  });
  HomeStore(*holder, home.dialect()).store_record(moving_owner());
  holder->commit();
  waiter.join();
  // Read after the lock was granted, so what the holder did is seen.
  CHECK(seen == moving_owner());
  CHECK(home.maintain(TxMode::read, [](HomeStore& store) { return store.record(); }) ==
        moving_owner());
}

CONFORMANCE_TEST_CASE("a record read under the lock shows what the holder before committed") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const auto holder = home.another();
  holder->begin_home(home.name(), TxMode::exclusive, soon());
  HomeStore(*holder, home.dialect()).store_record(mirror());
  CHECK(error_of([&] {
          SessionTransaction(home.application(), home.name(), TxMode::write, at_once());
        }) == ErrorCode::conflict);
  holder->commit();
  SessionTransaction tx(home.application(), home.name(), TxMode::write, soon());
  CHECK(tx.record() == mirror());
}

CONFORMANCE_TEST_CASE("a read transaction sees one snapshot and takes no lock") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'x')");
  const auto reader = home.another();
  SessionTransaction tx(*reader, home.name(), TxMode::read, soon());
  home.run("INSERT INTO item VALUES (2, 'y')");
  CHECK(reader->integer("SELECT count(*) FROM item") == 1);
}

CONFORMANCE_TEST_CASE("a write in a read transaction is refused and does nothing") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  {
    SessionTransaction tx(session, home.name(), TxMode::read, soon());
    CHECK(error_of([&] { session.execute("INSERT INTO item VALUES (1, 'x')"); }) ==
          ErrorCode::refused);
    if (home.dialect().quirks().survives_errors)
      CHECK(session.integer("SELECT count(*) FROM item") == 0);
  }
  {
    SessionTransaction tx(session, home.name(), TxMode::read, soon());
    CHECK(error_of([&] { session.run_script("DELETE FROM item"); }) == ErrorCode::refused);
  }
  SessionTransaction tx(session, home.name(), TxMode::read, soon());
  CHECK(session.integer("SELECT count(*) FROM item") == 0);
}

CONFORMANCE_TEST_CASE("statements that begin or end transactions are refused") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    session.execute("INSERT INTO item VALUES (1, 'x')");
    for (const char* sql : {"COMMIT", " /* a */ commit", "-- b\nROLLBACK", "END", "BEGIN"})
      CHECK(error_of([&] { session.execute(sql); }) == ErrorCode::refused);
    CHECK(session.in_transaction());
    session.execute("SAVEPOINT here");
    session.execute("INSERT INTO item VALUES (2, 'y')");
    session.execute("ROLLBACK TO here");
    session.execute("RELEASE here");
    tx.commit();
  }
  CHECK(home.digest("item").rows == 1);
}

CONFORMANCE_TEST_CASE("parameters bind by their numbers, in any order and more than once") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  home.run("INSERT INTO item VALUES (1, 'x')");
  const ValueView one = std::int64_t{1};
  const ValueView text = std::string_view("x");
  CHECK(session.integer("SELECT id FROM item WHERE name = $2 AND id = $1", {one, text}) == 1);
  CHECK(session.integer("SELECT id FROM item WHERE id = $1 AND name = $2 AND id = $1",
                        {one, text}) == 1);
  const auto code = [&](const char* sql, std::initializer_list<ValueView> parameters) {
    return error_of([&] { session.rows(sql, parameters); });
  };
  CHECK(code("SELECT id FROM item WHERE id = $1", {}) == ErrorCode::invalid_argument);
  CHECK(code("SELECT id FROM item WHERE id = $1", {one, one}) == ErrorCode::invalid_argument);
  CHECK(code("SELECT id FROM item WHERE id = $2", {one, one}) == ErrorCode::invalid_argument);
}

CONFORMANCE_TEST_CASE("one call runs one statement") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  CHECK(error_of([&] { session.execute("INSERT INTO item VALUES (1, 'x'); DELETE FROM item"); }) ==
        ErrorCode::invalid_argument);
  CHECK(error_of([&] { session.execute(" -- nothing"); }) == ErrorCode::invalid_argument);
  CHECK(session.execute("INSERT INTO item VALUES (1, 'x'); -- the end") == 1);
  session.run_script("INSERT INTO item VALUES (2, 'y'); INSERT INTO item VALUES (3, 'z');");
  CHECK(session.integer("SELECT count(*) FROM item") == 3);
}

CONFORMANCE_TEST_CASE("execute tells how many rows it changed") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  SessionTransaction tx(session, home.name(), TxMode::write, soon());
  CHECK(session.execute("INSERT INTO item VALUES (1, 'x'), (2, 'y'), (3, 'z')") == 3);
  CHECK(session.execute("UPDATE item SET name = 'w' WHERE id > 1") == 2);
  CHECK(session.execute("CREATE TABLE other (id BIGINT PRIMARY KEY)") == 0);
  CHECK(session.execute("INSERT INTO item VALUES (1, 'x') ON CONFLICT DO NOTHING") == 0);
  CHECK(session.execute("DELETE FROM item WHERE id = 9") == 0);
  CHECK(session.execute("INSERT INTO item VALUES (4, 'x') RETURNING id") == 1);
}

CONFORMANCE_TEST_CASE("a query inside a query with the same text gives both their rows") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'x'), (2, 'y'), (3, 'z')");
  Session& session = home.application();
  SessionTransaction tx(session, home.name(), TxMode::read, soon());
  int pairs = 0;
  session.for_each("SELECT id FROM item", {}, [&](RowView) {
    session.for_each("SELECT id FROM item", {}, [&](RowView) {
      ++pairs;
      return true;
    });
    return true;
  });
  CHECK(pairs == 9);
}

CONFORMANCE_TEST_CASE("constraint violations and wrong SQL have their own codes") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'x')");
  Session& session = home.application();
  CHECK(error_of([&] { session.execute("INSERT INTO item VALUES (1, 'y')"); }) ==
        ErrorCode::constraint);
  CHECK(error_of([&] { session.execute("SELECT nothing FROM nowhere"); }) == ErrorCode::sql);
  CHECK(session.usable());
}

CONFORMANCE_TEST_CASE("a statement still running at its deadline is stopped") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
  SessionTransaction tx(session, home.name(), TxMode::read, soon());
  session.set_statement_deadline(Deadline::after(system_clock(), std::chrono::milliseconds(20)));
  CHECK(error_of([&] { session.rows(endless); }) == ErrorCode::timeout);
  CHECK(error_of([&] { session.rows("SELECT 1"); }) == ErrorCode::timeout);
  CHECK(session.usable());
  session.set_statement_deadline(Deadline());
  session.rollback();
  CHECK(session.integer("SELECT 5") == 5);
}

CONFORMANCE_TEST_CASE("a session is for its own home only") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  if (home.backend().session_key(home.name()) == home.backend().session_key({"shop", ShardId{8}}))
    return;  // sessions of this database work in every home
  CHECK(error_of([&] {
          SessionTransaction(home.application(), {"shop", ShardId{8}}, TxMode::read, soon());
        }) == ErrorCode::internal);
}
