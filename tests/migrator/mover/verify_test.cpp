#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"

namespace ringshard::testing {
namespace {

constexpr auto schema =
    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, extra TEXT, data BLOB);"
    "CREATE TABLE pair (a TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY (a, b)) WITHOUT ROWID;"
    "CREATE TABLE empty_one (id INTEGER PRIMARY KEY);";

constexpr auto rows_before =
    "INSERT INTO item VALUES (1,'one','',x'00ff'),(2,'two',NULL,x'01'),(3,'three','t',x'02'),"
    "(4,'four','f',x'03'),(5,'five','v',x'04'),(6,'six','s',x'05'),(7,'seven','n',x'06');"
    "INSERT INTO pair VALUES ('a','b'),('c',''),('d','e');";

struct Damage {
  const char* name;
  const char* statements;
  std::int64_t rows;  ///< how many rows differ then
};

constexpr Damage damages[] = {
    {"one bit of a blob is flipped", "UPDATE item SET data = x'00fe' WHERE id = 1", 1},
    {"two rows have each other's values",
     "UPDATE item SET name = 'three' WHERE id = 2; UPDATE item SET name = 'two' WHERE id = 3", 2},
    {"one row is missing and another one extra",
     "DELETE FROM item WHERE id = 4; INSERT INTO item VALUES (40, 'four', 'f', x'03')", 2},
    {"a row is there twice", "INSERT INTO item VALUES (8, 'seven', 'n', x'06')", 1},
    {"the last row is missing", "DELETE FROM item WHERE id = 7", 1},
    {"a row lies before the first one", "INSERT INTO item VALUES (-1, 'x', 'x', NULL)", 1},
    {"the empty text became NULL", "UPDATE item SET extra = NULL WHERE id = 1", 1},
    {"NULL became the empty text", "UPDATE item SET extra = '' WHERE id = 2", 1},
    {"('a','b') became ('ab','')",
     "DELETE FROM pair WHERE a = 'a'; INSERT INTO pair VALUES ('ab', '')", 2},
    {"a number became its text", "UPDATE item SET data = 3 WHERE id = 3", 1},
    {"a row is in the table that must be empty", "INSERT INTO empty_one VALUES (1)", 1},
    {"everything is gone", "DELETE FROM item; DELETE FROM pair", 10},
};

ErrorCode run_code(MoveWorld& world) {
  try {
    world.run();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("every kind of difference stops the move, stays found, and is mended by a repair") {
  for (const Damage& damage : damages) {
    INFO(damage.name);
    MoveWorld world(schema);
    world.sql(rows_before);
    const auto expected = world.content("source");
    {
      AtPoint at(FaultPoint::after_verifying, [&] { world.damage(damage.statements); });
      CHECK(run_code(world) == ErrorCode::differs);
    }
    CHECK(world.record().stage == MoveStage::verifying);
    CHECK(world.record().differences_found);
    CHECK(world.home_record("source")->role == Role::owner);

    // The verdict is sticky: running again does not forget it.
    CHECK(run_code(world) == ErrorCode::differs);

    const VerifyReport found = world.verify();
    CHECK(found.differences == damage.rows);
    CHECK_FALSE(found.equal());
    CHECK(found.samples.size() == static_cast<std::size_t>(damage.rows));

    world.options.repair = true;
    CHECK(world.run().stage == MoveStage::observing);
    CHECK(world.content("target") == expected);
    CHECK_FALSE(world.record().differences_found);
  }
}

TEST_CASE("a difference names the table, the key and the columns") {
  MoveWorld world(schema);
  world.sql(rows_before);
  {
    AtPoint at(FaultPoint::after_verifying,
               [&] { world.damage("UPDATE item SET name = 'x', extra = 'y' WHERE id = 5"); });
    CHECK(run_code(world) == ErrorCode::differs);
  }
  const VerifyReport report = world.verify();
  REQUIRE(report.samples.size() == 1);
  CHECK(describe(report.samples[0]) == "table item, key (5): differs in name, extra");
}

TEST_CASE(
    "a row that was damaged after it was verified is found under the cutover's lock if it "
    "changed") {
  MoveWorld world(schema);
  world.sql(rows_before);
  {
    // Captured at the source, so it is compared again; the damage is what the mirror made of it.
    AtPoint at(FaultPoint::cutover_drained, [&] { throw Error(ErrorCode::unavailable, "stop"); });
    AtPoint changed(FaultPoint::after_ready,
                    [&] { world.sql("UPDATE item SET name = 'changed' WHERE id = 5"); });
    CHECK(world.run().stage == MoveStage::observing);
  }
  MoveWorld damaged(schema);
  damaged.sql(rows_before);
  fault::set_handler([&](FaultPoint at) {
    if (at == FaultPoint::after_ready) damaged.sql("UPDATE item SET name = 'changed' WHERE id = 5");
    if (at == FaultPoint::tail_erased && damaged.record().stage == MoveStage::ready)
      damaged.damage("UPDATE item SET name = 'wrong' WHERE id = 5");
  });
  CHECK(run_code(damaged) == ErrorCode::differs);
  fault::set_handler({});
  CHECK(damaged.record().stage == MoveStage::verifying);
  CHECK(damaged.home_record("source")->role == Role::owner);
}

TEST_CASE("what verify finds in a move that is ready is not cut over") {
  MoveWorld world(schema);
  world.sql(rows_before);
  {
    AtPoint at(FaultPoint::after_ready, [] { throw Error(ErrorCode::unavailable, "stop"); });
    CHECK(run_code(world) == ErrorCode::unavailable);
  }
  world.damage("UPDATE item SET name = 'wrong' WHERE id = 5");
  CHECK(world.verify().differences == 1);
  CHECK(world.record().stage == MoveStage::ready);
  CHECK(run_code(world) == ErrorCode::differs);
  CHECK(world.record().stage == MoveStage::verifying);
  CHECK(world.home_record("source")->role == Role::owner);
  // Somebody put the row right by hand: that does not take the verdict away, a repair does.
  world.damage("UPDATE item SET name = 'five' WHERE id = 5");
  CHECK(world.verify().equal());
  CHECK(run_code(world) == ErrorCode::differs);
  world.options.repair = true;
  CHECK(world.run().stage == MoveStage::observing);
}

TEST_CASE("a move that was paused can be verified") {
  MoveWorld world(schema);
  world.sql(rows_before);
  {
    AtPoint at(FaultPoint::after_ready, [&] { world.catalog().wish("m1", MoveWish::pause); });
    CHECK(run_code(world) == ErrorCode::cancelled);
  }
  // Long enough for a mover to look at what is wished.
  AtPoint slow(FaultPoint::verify_chunk_compared,
               [] { system_clock().sleep_for(std::chrono::milliseconds(250)); });
  CHECK(world.verify().equal());
  CHECK(world.record().stage == MoveStage::ready);
}

TEST_CASE("one row of many is found by narrowing") {
  MoveWorld world("CREATE TABLE item (a INTEGER, b TEXT, v TEXT, PRIMARY KEY (b, a))");
  world.options.chunk_rows = 2000;
  world.options.tail_rows = 1000;
  world.sql(
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
      "INSERT INTO item SELECT i % 7, printf('%05d', i), 'v' || i FROM n");
  {
    AtPoint at(FaultPoint::after_verifying, [&] {
      world.damage(
          "UPDATE item SET v = 'x' WHERE b = '01234'; DELETE FROM item WHERE b = '03000';"
          "INSERT INTO item VALUES (9, '09999', 'beyond')");
    });
    CHECK(run_code(world) == ErrorCode::differs);
  }
  const VerifyReport report = world.verify();
  CHECK(report.rows == 3000);
  CHECK(report.differences == 3);
}

TEST_CASE("empty tables are counted as empty, not as checked rows") {
  MoveWorld world(
      "CREATE TABLE one (id INTEGER PRIMARY KEY); CREATE TABLE two (id INTEGER PRIMARY KEY)");
  REQUIRE(world.run().stage == MoveStage::observing);
  const VerifyReport report = world.verify();
  CHECK(report.tables == 2);
  CHECK(report.empty_tables == 2);
  CHECK(report.rows == 0);
  CHECK(report.equal());
}

TEST_CASE("the verifier does not cry wolf about rows that are being written") {
  MoveWorld world(schema);
  world.sql(rows_before);
  world.options.tail_rows = 100;
  int round = 0;
  fault::set_handler([&](FaultPoint at) {
    if (at == FaultPoint::verify_chunk_compared)
      world.sql("UPDATE item SET name = 'round " + std::to_string(++round) + "'");
    if (at == FaultPoint::tail_applied)
      world.sql("UPDATE item SET name = 'hot " + std::to_string(++round) + "' WHERE id = 4");
  });
  // Changes without end at each of its steps: it must not come to believe in a difference.
  const MoveRecord moved = world.run();
  fault::set_handler({});
  CHECK(moved.stage == MoveStage::observing);
  CHECK(round > 3);
  CHECK(world.content("target") == world.content("source"));
}

TEST_CASE("a repair does not overwrite what was written meanwhile") {
  MoveWorld world(schema);
  world.sql(rows_before);
  {
    AtPoint at(FaultPoint::after_verifying,
               [&] { world.damage("UPDATE item SET name = 'wrong' WHERE id IN (2, 3)"); });
    CHECK(run_code(world) == ErrorCode::differs);
  }
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "UPDATE item SET name = 'newer' WHERE id = 2");
  world.options.repair = true;
  CHECK(world.run().stage == MoveStage::observing);
  CHECK(world.rows("SELECT name FROM item WHERE id IN (2, 3) ORDER BY id", "target") ==
        std::vector<Row>{{std::string("newer")}, {std::string("three")}});
}

}  // namespace ringshard::testing
