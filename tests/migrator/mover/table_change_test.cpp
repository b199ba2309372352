// What programs do to tables, counters and rows in the middle of a move, behind the router's back.

#include <functional>
#include <optional>
#include <ringshard/error.hpp>
#include <string>
#include <utility>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {
namespace {

constexpr auto schema = "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)";

void fill(MoveWorld& world) {
  for (int id = 1; id < 10; ++id)
    world.sql("INSERT INTO item VALUES (" + std::to_string(id) + ", 'i" + std::to_string(id) +
              "')");
}

std::optional<ErrorCode> code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a table that was dropped and made again in the same words is not cut over") {
  MoveWorld world(schema);
  fill(world);
  {
    AtPoint at(FaultPoint::after_ready, [&] {
      world.sql("DROP TABLE item");
      world.sql(schema);
      world.sql("INSERT INTO item VALUES (100, 'not captured')");
    });
    CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
  }
  const auto now = world.content("source");
  CHECK(world.abort().stage == MoveStage::reverted);
  CHECK(world.content("source") == now);
  CHECK_FALSE(world.has_capture("source"));
}

TEST_CASE("an index that was dropped and made again in the same words is the same index") {
  MoveWorld world(
      "CREATE TABLE item (id INTEGER PRIMARY KEY, a TEXT, b TEXT);"
      "CREATE UNIQUE INDEX by_a ON item (a);"
      "CREATE UNIQUE INDEX by_b ON item (b)");
  AtPoint at(FaultPoint::after_ready, [&] {
    world.sql("DROP INDEX by_a");
    world.sql("CREATE UNIQUE INDEX by_a ON item (a)");
  });
  CHECK(world.run().stage == MoveStage::observing);
}

TEST_CASE("a change log whose numbers begin anew is not taken for applied") {
  MoveWorld world(schema);
  fill(world);
  bool changed = false;
  bool emptied = false;
  fault::set_handler([&](FaultPoint point) {
    if (point == FaultPoint::backfill_chunk_read && !std::exchange(changed, true))
      for (int i = 0; i < 5; ++i) world.sql("UPDATE item SET name = 'first' WHERE id = 1");
    if (point == FaultPoint::after_ready && !std::exchange(emptied, true)) {
      world.sql("DELETE FROM sqlite_sequence");
      for (int id = 1; id < 10; ++id)
        world.sql("UPDATE item SET name = 'second' WHERE id = " + std::to_string(id));
    }
  });
  CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
  fault::set_handler({});
  CHECK(emptied);
  const auto now = world.content("source");
  CHECK(world.abort().stage == MoveStage::reverted);
  CHECK(world.content("source") == now);
}

TEST_CASE("a row that REPLACE removed through a column's default is gone at the target too") {
  MoveWorld world(
      "CREATE TABLE item (id INTEGER PRIMARY KEY, code TEXT NOT NULL DEFAULT 'none' UNIQUE,"
      " other TEXT NOT NULL DEFAULT \"id\" UNIQUE)");
  world.sql("INSERT INTO item VALUES (1, 'none', 'x'), (2, 'two', 'id'), (3, 'three', 'z')");
  {
    AtPoint at(FaultPoint::after_ready, [&] {
      world.sql("INSERT OR REPLACE INTO item VALUES (100, NULL, 'a')");
      world.sql("UPDATE item SET code = 'c' WHERE id = 100");
      world.sql("UPDATE OR REPLACE item SET other = NULL WHERE id = 3");
      world.sql("UPDATE item SET other = 'd' WHERE id = 3");
    });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(world.content("target") == world.content("source"));
}

TEST_CASE("a row with NULL in its key stops a move until it is deleted, at any time of it") {
  for (const FaultPoint point : {FaultPoint::capture_installed, FaultPoint::after_ready}) {
    INFO(to_string(point));
    MoveWorld world("CREATE TABLE item (id TEXT PRIMARY KEY, name TEXT)");
    fill(world);
    {
      AtPoint at(point, [&] { world.sql("INSERT INTO item VALUES (NULL, 'no key')"); });
      CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
    }
    CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
    world.sql("DELETE FROM item WHERE id IS NULL");
    CHECK(world.run().stage == MoveStage::observing);
    CHECK(world.content("target") == world.content("source"));
  }
}

TEST_CASE("a rollback that a change of the tables made impossible can be given up") {
  MoveWorld world(schema);
  fill(world);
  REQUIRE(world.run().stage == MoveStage::observing);
  world.sql("ALTER TABLE item ADD COLUMN more TEXT", "target");
  CHECK(code_of([&] { world.roll_back(); }) == ErrorCode::schema);
  CHECK(world.record().stage == MoveStage::rolling_back);
  const auto now = world.content("target");
  CHECK(world.finalize().stage == MoveStage::done);
  CHECK(world.content("target") == now);
  CHECK_FALSE(world.home_record("source").has_value());
}

TEST_CASE("a rollback that was decided is carried out although finalize was asked for") {
  MoveWorld world(schema);
  fill(world);
  REQUIRE(world.run().stage == MoveStage::observing);
  AtPoint at(FaultPoint::cutover_decided, [&] { world.catalog().wish("m1", MoveWish::finalize); });
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(at.reached());
}

TEST_CASE("the numbers that an application keeps in the file's header move with the tables") {
  MoveWorld world(schema);
  world.sql("PRAGMA user_version = 7; PRAGMA application_id = -77");
  REQUIRE(world.run().stage == MoveStage::observing);
  for (const char* number : {"PRAGMA user_version", "PRAGMA application_id"})
    CHECK(world.rows(number, "target") == world.rows(number, "source"));

  MoveWorld changing(schema);
  {
    AtPoint at(FaultPoint::after_ready, [&] { changing.sql("PRAGMA user_version = 8"); });
    CHECK(code_of([&] { changing.run(); }) == ErrorCode::schema);
  }
  changing.sql("PRAGMA user_version = 0");
  CHECK(changing.run().stage == MoveStage::observing);
}

TEST_CASE("what a mover commits survives a power cut whatever the application is ready to lose") {
  MoveWorld world(schema);
  Catalog catalog = world.catalog();
  BackendOptions careless;
  careless.sqlite.synchronous_full = false;
  Nodes nodes(catalog.topology("shop").nodes(), system_clock(), careless);
  const auto session = nodes.at("source").connect(world.home(), SessionUse::maintenance);
  SessionTransaction tx(*session, world.home(), TxMode::read, Deadline());
  CHECK(session->integer("PRAGMA synchronous") == 2);
}

}  // namespace ringshard::testing
