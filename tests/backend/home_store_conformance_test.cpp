#include <algorithm>
#include <span>

#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

const std::vector<std::string> items{"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)"};

RowChange change(std::int64_t seq, Row row_key, std::optional<Row> new_row, std::int64_t leg = 1,
                 std::string table = "item") {
  return {{seq, leg, std::move(table), std::move(row_key)}, std::move(new_row)};
}

}  // namespace

CONFORMANCE_TEST_CASE("a record that was stored is read back") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  for (const HomeRecord& record : {mirror(2), moving_owner(4), at_rest()}) {
    home.set_record(record);
    CHECK(home.maintain(TxMode::read, [](HomeStore& store) { return store.record(); }) == record);
  }
}

CONFORMANCE_TEST_CASE("a mirror is promoted once, and only by its own move in the next leg") {
  SelectedFixture fixture;
  HomeRecord certified = mirror(1);
  certified.certificate = "attempt 2";
  TestHome home(fixture.open_node("a"), certified, items);
  const auto promote = [&](const std::string& move, std::int64_t leg,
                           const std::string& certificate = "attempt 2") {
    HomeRecord decided = mirror(leg);
    decided.move_id = move;
    decided.certificate = certificate;
    return home.maintain(TxMode::exclusive,
                         [&](HomeStore& store) { return store.promote(decided, "source"); });
  };
  CHECK_FALSE(promote("m2", 2));
  CHECK_FALSE(promote("m1", 1));
  CHECK_FALSE(promote("m1", 3));
  CHECK_FALSE(promote("m1", 2, "attempt 1"));
  CHECK(home.maintain(TxMode::read, [](HomeStore& store) { return store.record(); }) == certified);
  CHECK(promote("m1", 2));
  CHECK_FALSE(promote("m1", 2));
  const auto record = home.maintain(TxMode::read, [](HomeStore& store) { return store.record(); });
  REQUIRE(record.has_value());
  CHECK(record->role == Role::owner);
  CHECK(record->leg == 2);
  CHECK(record->peer == "source");
  CHECK(record->move_id == "m1");
}

CONFORMANCE_TEST_CASE("the log's head stays where it was when its entries are erased") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  const auto head = [&] {
    return pair.owner.maintain(TxMode::read, [](HomeStore& store) { return store.log_head(); });
  };
  CHECK(head() == 0);
  for (int id = 1; id <= 5; ++id)
    pair.owner.run("INSERT INTO item VALUES (" + std::to_string(id) + ", 'x')");
  const std::vector<Change> log = pair.owner.log();
  REQUIRE(log.size() == 5);
  CHECK(head() == log.back().seq);
  // Not one after the other, and the one between them stays.
  pair.owner.maintain(TxMode::write, [&](HomeStore& store) {
    store.log_erase(std::vector<std::int64_t>{log[4].seq, log[0].seq, log[1].seq, log[3].seq});
    return 0;
  });
  CHECK(pair.owner.logged() == "item(3)");
  CHECK(head() == log.back().seq);
  pair.owner.run("INSERT INTO item VALUES (6, 'x')");
  CHECK(pair.owner.log().back().seq > log.back().seq);
  const Table table = pair.owner.table("item");
  pair.owner.maintain(TxMode::read, [&](HomeStore& store) {
    CHECK(store.log_rows() == 2);
    CHECK(store.log_has(table, key(3)));
    CHECK_FALSE(store.log_has(table, key(1)));
    CHECK(store.log_after(log[2].seq, 10).size() == 1);
    CHECK(store.log_after(0, 1).size() == 1);
    return 0;
  });
}

CONFORMANCE_TEST_CASE("rows_of gives each key once, in its newest change, as it is now") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  pair.owner.run("INSERT INTO item VALUES (1, 'a')");
  pair.owner.run("INSERT INTO item VALUES (2, 'b')");
  pair.owner.run("UPDATE item SET name = 'c' WHERE id = 1");
  pair.owner.run("DELETE FROM item WHERE id = 2");
  pair.owner.maintain(TxMode::read, [](HomeStore& store) {
    const auto rows = store.rows_of(store.log_after(0, 100));
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].change.seq < rows[1].change.seq);
    CHECK(same(rows[0].row, row(1, "c")));
    CHECK(same(rows[1].change.key, key(2)));
    CHECK_FALSE(rows[1].row.has_value());
    return 0;
  });
}

CONFORMANCE_TEST_CASE("applied late, again or out of order, the newest change wins") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  CHECK(pair.apply({change(5, key(1), row(1, "five"))}) == 1);
  CHECK(pair.apply({change(3, key(1), row(1, "three"))}) == 0);
  CHECK(same(pair.target.fetch("item", key(1)), row(1, "five")));
  CHECK(pair.apply({change(5, key(1), row(1, "five again"))}) == 1);
  CHECK(same(pair.target.fetch("item", key(1)), row(1, "five again")));
  CHECK(pair.apply({change(8, key(1), std::nullopt)}) == 1);
  CHECK(pair.apply({change(6, key(1), row(1, "late insert"))}) == 0);
  CHECK_FALSE(pair.target.fetch("item", key(1)).has_value());
  CHECK(pair.apply({change(9, key(1), row(1, "born again"))}) == 1);
  CHECK(same(pair.target.fetch("item", key(1)), row(1, "born again")));
  // Whatever an earlier leg did is older, whatever its seq.
  CHECK(pair.apply({change(1, key(1), row(1, "next leg"), 2)}) == 1);
  CHECK(pair.apply({change(99, key(1), row(1, "old leg"), 1)}) == 0);
  CHECK(same(pair.target.fetch("item", key(1)), row(1, "next leg")));
}

CONFORMANCE_TEST_CASE("every order of applying ends in the same rows") {
  SelectedFixture fixture;
  const std::vector<RowChange> changes{
      change(1, key(1), row(1, "a")), change(2, key(1), std::nullopt),
      change(3, key(1), row(1, "b")), change(4, key(2), row(2, "c"))};
  std::vector<std::size_t> order{0, 1, 2, 3};
  TestHome target(fixture.open_node("orders"), mirror(), items);
  target.install_capture();
  do {
    target.maintain(TxMode::write, [&](HomeStore& store) {
      store.session().execute("DELETE FROM item");
      store.session().execute("DELETE FROM " + quoted(applied_table_name("item")));
      for (const std::size_t i : order)
        store.apply(std::span(&changes[i], 1), UniqueConflict::evict);
      return 0;
    });
    CHECK(same(target.fetch("item", key(1)), row(1, "b")));
    CHECK(same(target.fetch("item", key(2)), row(2, "c")));
  } while (std::next_permutation(order.begin(), order.end()));
}

CONFORMANCE_TEST_CASE("applied_after lists the keys of a leg in the order of their changes") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  pair.apply({change(2, key(1), row(1, "a")), change(4, key(2), std::nullopt),
              change(7, key(3), row(3, "c")), change(8, key(4), row(4, "d"), 2)});
  const Table table = pair.target.table("item");
  pair.target.maintain(TxMode::read, [&](HomeStore& store) {
    const auto all = store.applied_after(table, 1, 0, 10);
    REQUIRE(all.size() == 3);
    CHECK(same(all[0].key, key(1)));
    CHECK(all[2].seq == 7);
    CHECK(store.applied_after(table, 1, 2, 1).size() == 1);
    CHECK(store.applied_after(table, 1, 7, 10).empty());
    CHECK(store.applied_after(table, 2, 0, 10).size() == 1);
    return 0;
  });
}

CONFORMANCE_TEST_CASE("keys that the database takes for one are one for newer wins") {
  SelectedFixture fixture;
  MovingPair pair(fixture, {"CREATE TABLE tag (name " + fixture.case_folding_text_type() +
                            " PRIMARY KEY, hits BIGINT)"});
  const Row upper{std::string("A"), std::int64_t{1}};
  const Row lower{std::string("a"), std::int64_t{2}};
  const auto tag = [](std::int64_t seq, const char* name, std::optional<Row> value) {
    return change(seq, Row{std::string(name)}, std::move(value), 1, "tag");
  };
  CHECK(pair.apply({tag(2, "a", lower)}) == 1);
  CHECK(pair.apply({tag(1, "A", upper)}) == 0);
  CHECK(same(pair.target.fetch("tag", {std::string("A")}), lower));
  CHECK(pair.apply({tag(3, "A", upper)}) == 1);
  CHECK(same(pair.target.fetch("tag", {std::string("a")}), upper));
  CHECK(pair.target.digest("tag").rows == 1);
  pair.owner.run("INSERT INTO tag VALUES ('Q', 1)");
  const Table table = pair.owner.table("tag");
  pair.owner.maintain(TxMode::read, [&](HomeStore& store) {
    CHECK(store.log_has(table, {std::string("q")}));
    return 0;
  });
}

CONFORMANCE_TEST_CASE("a chunk inserted late does not bring back what newer changes made") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  pair.owner.maintain(TxMode::write, [](HomeStore& store) {
    store.session().execute("INSERT INTO item VALUES (1, 'old'), (2, 'old'), (3, 'old')");
    return 0;
  });
  const Table table = pair.owner.table("item");
  RowBatch chunk;
  pair.owner.maintain(TxMode::read, [&](HomeStore& store) {
    CHECK(store.read_chunk(table, std::nullopt, 100, 1000, chunk));
    return 0;
  });
  // Between the chunk's read and its insert:
  pair.owner.run("UPDATE item SET name = 'new' WHERE id = 1");
  pair.owner.run("DELETE FROM item WHERE id = 2");
  pair.tail();
  CHECK(pair.target.maintain(TxMode::write, [&](HomeStore& store) {
    return store.insert_missing(table, chunk);
  }) == 2);
  // The deleted row is back, which newer wins can not see; the tailer's second application mends
  // it.
  pair.tail();
  CHECK(same(pair.target.fetch("item", key(1)), row(1, "new")));
  CHECK(pair.owner.digest("item") == pair.target.digest("item"));
}

CONFORMANCE_TEST_CASE("of a chunk only the rows are inserted whose keys are not there yet") {
  SelectedFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT, code BIGINT UNIQUE)"});
  pair.owner.maintain(TxMode::write, [](HomeStore& store) {
    for (std::int64_t id = 0; id < 29; ++id)
      store.session().execute("INSERT INTO item VALUES ($1, 'owner', $1)", {id});
    return 0;
  });
  pair.target.maintain(TxMode::write, [](HomeStore& store) {
    for (const std::int64_t id : {0, 9, 10, 28})
      store.session().execute("INSERT INTO item VALUES ($1, 'target', $1)", {id});
    return store.session().execute("INSERT INTO item VALUES (100, 'target', 17)");
  });
  CHECK(pair.backfill("item", 29) == 24);
  CHECK(same(pair.target.fetch("item", key(9)),
             Row{std::int64_t{9}, std::string("target"), std::int64_t{9}}));
  CHECK(same(pair.target.fetch("item", key(8)),
             Row{std::int64_t{8}, std::string("owner"), std::int64_t{8}}));
  CHECK_FALSE(pair.target.fetch("item", key(17)).has_value());
}

CONFORMANCE_TEST_CASE("a chunk ends at its rows, at its bytes or at the table's end") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const Table table = home.table("item");
  RowBatch batch;
  const auto chunk = [&](std::optional<Row> after, std::size_t rows, std::size_t bytes) {
    return home.maintain(TxMode::read, [&](HomeStore& store) {
      return store.read_chunk(table, after, rows, bytes, batch);
    });
  };
  CHECK(chunk(std::nullopt, 10, 1000));
  CHECK(batch.empty());
  home.run("INSERT INTO item VALUES (1, 'aaaaaaaaaa'), (2, 'b'), (3, 'c')");
  CHECK_FALSE(chunk(std::nullopt, 2, 1000));
  CHECK(batch.size() == 2);
  CHECK(chunk(key(2), 2, 1000));
  CHECK(batch.size() == 1);
  CHECK_FALSE(chunk(std::nullopt, 10, 1));
  CHECK(batch.size() == 1);
  CHECK_FALSE(chunk(std::nullopt, 0, 1000));
  CHECK(batch.size() == 1);
  CHECK(chunk(std::nullopt, 3, 1000));
  CHECK(batch.size() == 3);
  CHECK(chunk(key(3), 3, 1000));
  CHECK(batch.empty());
  home.maintain(TxMode::read, [&](HomeStore& store) {
    CHECK(store.read_range(table, {key(1), key(2)}, batch));
    CHECK(batch.size() == 1);
    CHECK(store.read_range(table, {std::nullopt, key(2)}, batch));
    CHECK(batch.size() == 2);
    CHECK_FALSE(store.read_range(table, {key(7), std::nullopt}, batch));
    return 0;
  });
}

CONFORMANCE_TEST_CASE("unique values that change hands arrive in any order") {
  SelectedFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE account (id BIGINT PRIMARY KEY, email TEXT UNIQUE, n BIGINT)"});
  pair.owner.run("INSERT INTO account VALUES (1, 'a', 0), (2, 'b', 0), (3, 'c', 0)");
  pair.tail();
  pair.owner.apply([](Session& session) {
    session.execute("UPDATE account SET email = 'x' WHERE id = 1");
    session.execute("UPDATE account SET email = 'a' WHERE id = 2");
    session.execute("UPDATE account SET email = 'b' WHERE id = 1");
  });
  auto rows = pair.owner.maintain(
      TxMode::read, [](HomeStore& store) { return store.rows_of(store.log_after(0, 100)); });
  REQUIRE(rows.size() == 3);
  CHECK(error_of([&] { pair.apply(rows, UniqueConflict::fail); }) == ErrorCode::constraint);
  pair.apply(rows);
  CHECK(pair.owner.digest("account") == pair.target.digest("account"));
  // The other way round, and a row that keeps its own value stays.
  std::reverse(rows.begin(), rows.end());
  pair.apply(rows);
  pair.apply(rows);
  CHECK(pair.owner.digest("account") == pair.target.digest("account"));
}

CONFORMANCE_TEST_CASE("a composite key is read and compared in its own order") {
  SelectedFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE line (note TEXT, pos BIGINT, invoice TEXT, amount BIGINT, "
                   "PRIMARY KEY (invoice, pos))"});
  const Table table = pair.owner.table("line");
  CHECK(table.key == std::vector<std::string>{"invoice", "pos"});
  CHECK(table.key_positions == std::vector<std::size_t>{2, 1});
  for (const char* invoice : {"b", "a", "c"})
    for (int pos = 3; pos >= 1; --pos)
      pair.owner.maintain(TxMode::write, [&](HomeStore& store) {
        store.session().execute("INSERT INTO line VALUES (NULL, $1, $2, 5)",
                                {std::int64_t{pos}, std::string_view(invoice)});
        return 0;
      });
  CHECK(pair.backfill("line", 2) == 9);
  CHECK(pair.owner.digest("line") == pair.target.digest("line"));
  const Row from{std::string("a"), std::int64_t{2}};
  const Row to{std::string("b"), std::int64_t{1}};
  CHECK(pair.owner.digest("line", {from, to}).rows == 2);
  pair.owner.run("UPDATE line SET amount = 6 WHERE invoice = 'b' AND pos = 2");
  CHECK(pair.owner.logged() == "line('b', 2)");
  pair.tail();
  CHECK(pair.owner.digest("line") == pair.target.digest("line"));
}

CONFORMANCE_TEST_CASE("a checkpoint is stored with its chunk or not at all") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  const Table table = pair.target.table("item");
  const auto load = [&] {
    return pair.target.maintain(TxMode::read,
                                [&](HomeStore& store) { return store.checkpoint(table.name); });
  };
  CHECK_FALSE(load().last_key.has_value());
  CHECK_FALSE(load().complete);
  HomeStore& store = pair.target.store();
  const auto write_chunk = [&] {
    store.put(table, key(1), row(1, "x"), UniqueConflict::fail);
    store.store_checkpoint(table.name, {key(1), false});
  };
  {
    SessionTransaction tx(store.session(), pair.target.name(), TxMode::write, soon());
    write_chunk();
  }
  CHECK_FALSE(load().last_key.has_value());
  {
    SessionTransaction tx(store.session(), pair.target.name(), TxMode::write, soon());
    write_chunk();
    tx.commit();
  }
  CHECK(same(load().last_key, key(1)));
  pair.target.maintain(TxMode::write, [&](HomeStore& again) {
    again.store_checkpoint(table.name, {std::nullopt, true});
    return 0;
  });
  CHECK(load().complete);
  CHECK_FALSE(load().last_key.has_value());
}

CONFORMANCE_TEST_CASE("a table that changes under an open session is seen as it is now") {
  SelectedFixture fixture;
  MovingPair pair(fixture, items);
  CHECK(pair.owner.table("item").columns.size() == 2);
  pair.owner.run("INSERT INTO item VALUES (1, 'a')");
  CHECK(pair.owner.logged() == "item(1)");
  const auto other = pair.owner.another();
  {
    SessionTransaction tx(*other, pair.owner.name(), TxMode::write, soon());
    other->execute("ALTER TABLE item ADD COLUMN size BIGINT");
    tx.commit();
  }
  CHECK(pair.owner.table("item").columns.size() == 3);
  pair.owner.maintain(TxMode::read, [](HomeStore& store) {
    const auto rows = store.rows_of(store.log_after(0, 10));
    REQUIRE(rows.size() == 1);
    CHECK(same(rows[0].row, Row{std::int64_t{1}, std::string("a"), Null{}}));
    return 0;
  });
}

CONFORMANCE_TEST_CASE("a definition that was rolled back is forgotten") {
  SelectedFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  HomeStore& store = home.store();
  const auto tables = [&] {
    return store.dialect().describe_schema(store.session()).tables.size();
  };
  for (const char* name : {"first", "second"}) {
    SessionTransaction tx(store.session(), home.name(), TxMode::write, soon());
    store.session().execute("CREATE TABLE " + std::string(name) + " (id BIGINT PRIMARY KEY)");
    CHECK(tables() == 2);
    CHECK(store.dialect().describe_schema(store.session()).find(name) != nullptr);
  }
  SessionTransaction tx(store.session(), home.name(), TxMode::read, soon());
  CHECK(tables() == 1);
}

CONFORMANCE_TEST_CASE("counters are raised and never lowered, also where nothing was counted yet") {
  SelectedFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE entry (id " + fixture.counted_key_type() + ", name TEXT)"});
  for (int i = 0; i < 3; ++i) pair.owner.run("INSERT INTO entry (name) VALUES ('x')");
  pair.owner.run("DELETE FROM entry");
  const auto counters = [](TestHome& home) {
    return home.maintain(
        TxMode::read, [](HomeStore& store) { return store.dialect().counters(store.session()); });
  };
  const auto raise = [](TestHome& home, const std::vector<Counter>& to) {
    home.maintain(TxMode::write, [&](HomeStore& store) {
      store.dialect().raise_counters(store.session(), to);
      return 0;
    });
  };
  const std::vector<Counter> at_owner = counters(pair.owner);
  REQUIRE(at_owner.size() == 1);
  CHECK(at_owner[0].last == 3);
  raise(pair.target, at_owner);
  raise(pair.target, {{at_owner[0].name, at_owner[0].table, 2}});
  REQUIRE(counters(pair.target).size() == 1);
  CHECK(counters(pair.target)[0].last == 3);
  pair.target.set_record(moving_owner());
  pair.target.run("INSERT INTO entry (name) VALUES ('y')");
  CHECK(pair.target.fetch("entry", key(4)).has_value());
}
