#include <limits>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"
#include "support/sanitizer.hpp"

namespace ringshard::testing {
namespace {

constexpr auto odd_names =
    R"(CREATE TABLE "Order" ("select" INTEGER PRIMARY KEY, "from ""x""" TEXT, "größe" REAL);)"
    R"(CREATE TABLE "select" ("group" TEXT NOT NULL, "a b" INTEGER NOT NULL, v, PRIMARY KEY ("a b", "group"));)"
    R"(CREATE TABLE "we""ird; --" (id INTEGER PRIMARY KEY, "va'lue" TEXT UNIQUE);)"
    R"(CREATE TABLE "таблица" (ключ TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, v TEXT) WITHOUT ROWID;)"
    R"(CREATE TABLE computed (a INTEGER, id INTEGER PRIMARY KEY, twice INTEGER GENERATED ALWAYS AS (a * 2) STORED,
       thrice GENERATED ALWAYS AS (a * 3) VIRTUAL, b TEXT);)"
    R"(CREATE INDEX "an index" ON computed (twice);)"
    R"(CREATE VIEW "a view" AS SELECT a, twice FROM computed;)"
    R"(CREATE TABLE untyped (id PRIMARY KEY NOT NULL, v);)"
    R"(CREATE TABLE audit (id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT);)"
    R"(CREATE TRIGGER noted AFTER INSERT ON "Order" BEGIN INSERT INTO audit (what) VALUES ('order ' || NEW."select"); END;)";

constexpr auto odd_rows =
    R"(INSERT INTO "Order" VALUES (1, 'it''s', 1.5), (9007199254740993, NULL, -0.0), (-9223372036854775808, '', 9e999),)"
    R"( (9223372036854775807, 'null', -9e999), (3, 'tab	and
newline', 1e-300);)"
    R"(INSERT INTO "select" VALUES ('b', 1, NULL), ('a', 2, ''), ('', 1, x''), ('B', 1, 1), ('ab', 0, '1');)"
    R"(INSERT INTO "we""ird; --" VALUES (1, 'a'), (2, NULL), (3, NULL);)"
    R"(INSERT INTO "таблица" VALUES ('Ключ', 'v'), ('KEY', 'w');)"
    R"(INSERT INTO computed (a, id, b) VALUES (5, 1, 'x'), (NULL, 2, NULL);)"
    R"(INSERT INTO untyped VALUES (1, 1), (1.5, 1.0), ('1', '1'), (x'31', x'31'), (9007199254740993, 9007199254740993.0);)";

}  // namespace

TEST_CASE(
    "every kind of value and name arrives and verifies, also when it changes during the move") {
  MoveWorld world(odd_names);
  world.sql(odd_rows);
  Cluster cluster = world.cluster();
  const std::string with_nul("a\0b", 3);
  cluster.transact(MoveWorld::shard, [&](Transaction& tx) {
    tx.execute(R"(INSERT INTO "Order" VALUES (10, $1, 0))", with_nul);
    tx.execute("INSERT INTO untyped VALUES ($1, $2)", Blob{with_nul}, with_nul);
  });
  {
    AtPoint at(FaultPoint::backfill_chunk_written, [&] {
      cluster.transact(MoveWorld::shard, [&](Transaction& tx) {
        tx.execute(R"(INSERT INTO "Order" VALUES (11, $1, $2))", with_nul,
                   std::numeric_limits<double>::infinity());
        tx.execute(R"(UPDATE "select" SET "group" = 'moved' WHERE "a b" = 2)");
        tx.execute(R"(UPDATE "таблица" SET ключ = 'key' WHERE ключ = 'KEY')");
        tx.execute("UPDATE untyped SET v = 1.0 WHERE id = 1");
        tx.execute("UPDATE untyped SET id = 2.0 WHERE id = '1'");
        tx.execute("UPDATE computed SET a = 50 WHERE id = 1");
        tx.execute(
            R"(UPDATE "we""ird; --" SET "va'lue" = 'it''s; DROP TABLE audit --' WHERE id = 2)");
      });
    });
    REQUIRE(world.run().stage == MoveStage::observing);
  }
  const auto content = world.content("target");
  CHECK(content == world.content("source"));
  CHECK(content.at("Order").size() == 7);
  CHECK(content.at("audit").size() == 7);
  const auto verified = world.verify();
  CHECK(verified.equal());
  CHECK(verified.rows == 32);
  CHECK(world.rows("SELECT twice, thrice FROM computed WHERE id = 1", "target")[0] ==
        Row{std::int64_t{100}, std::int64_t{150}});
  CHECK(world.rows(R"(SELECT count(*) FROM "a view")", "target")[0] == Row{std::int64_t{2}});
  CHECK(world.finalize().stage == MoveStage::done);
  CHECK(world.content("target") == content);
  // The application's own trigger works at its new home.
  cluster.execute(MoveWorld::shard, R"(INSERT INTO "Order" VALUES (12, 'new', 1))");
  CHECK(world.content("target").at("audit").size() == 8);
}

TEST_CASE("a blob of 64 MB arrives, copied and double-written") {
  MoveWorld world("CREATE TABLE big (id INTEGER PRIMARY KEY, data BLOB)");
  Cluster cluster = world.cluster();
  std::string bytes(large_value_bytes, '\0');
  for (std::size_t i = 0; i < bytes.size(); i += 4093) bytes[i] = static_cast<char>(i);
  cluster.execute(MoveWorld::shard, "INSERT INTO big VALUES (1, $1)", Blob{bytes});
  bytes[12345] = 'x';
  {
    AtPoint at(FaultPoint::after_backfilling, [&] {
      cluster.execute(MoveWorld::shard, "INSERT INTO big VALUES (2, $1)", Blob{bytes});
    });
    REQUIRE(world.run().stage == MoveStage::observing);
  }
  const Row lengths = world.rows("SELECT count(*), sum(length(data)) FROM big", "target")[0];
  CHECK(lengths == Row{std::int64_t{2}, static_cast<std::int64_t>(2 * large_value_bytes)});
  CHECK(world.verify().equal());
}

}  // namespace ringshard::testing
