#include <iostream>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"

// Moves from one PostgreSQL database to another, with what only PostgreSQL has.

namespace ringshard::testing {
namespace {

bool no_server() {
  if (!postgres_server().empty()) return false;
  std::cout << "test skipped: there is no PostgreSQL server\n";
  return true;
}

constexpr auto shop =
    "CREATE TYPE mood AS ENUM ('low', 'high');"
    "CREATE DOMAIN price AS numeric(12, 2) CHECK (VALUE >= 0);"
    "CREATE TABLE customer (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text UNIQUE, "
    " mood mood, made timestamptz NOT NULL DEFAULT now());"
    "CREATE TABLE invoice (id bigserial PRIMARY KEY, customer bigint NOT NULL REFERENCES customer "
    " (id) ON DELETE CASCADE, total price NOT NULL, doubled numeric GENERATED ALWAYS AS (total * "
    "2) "
    " STORED, tags text[], extra jsonb);"
    "CREATE INDEX invoice_customer ON invoice (customer);"
    "CREATE TABLE audit (id bigserial PRIMARY KEY, what text NOT NULL);"
    "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    " INSERT INTO audit (what) VALUES (TG_OP || ' ' || NEW.id); RETURN NULL; END $$;"
    "CREATE TRIGGER noted AFTER INSERT ON invoice FOR EACH ROW EXECUTE FUNCTION note();"
    "CREATE VIEW totals AS SELECT customer, sum(total) AS total FROM invoice GROUP BY customer";

void fill(MoveWorld& world, int customers) {
  const std::string n = std::to_string(customers);
  world.sql(
      "INSERT INTO customer (name, mood) SELECT 'customer ' || i, 'high' FROM "
      "generate_series(1, " +
      n +
      ") i;"
      "INSERT INTO invoice (customer, total, tags, extra) SELECT i, i * 1.5, "
      "ARRAY['a', NULL, 'b,c'], '{\"k\": [1, null]}' FROM generate_series(1, " +
      n + ") i");
}

std::int64_t count(MoveWorld& world, const std::string& table, const char* node) {
  return std::get<std::int64_t>(world.rows("SELECT count(*) FROM " + table, node)[0][0]);
}

}  // namespace

TEST_CASE("a move between two PostgreSQL databases ends with everything at the target alone") {
  if (no_server()) return;
  MoveWorld world(shop, Engine::postgres);
  fill(world, 20);
  const auto before = world.content("source");
  CHECK(world.run().stage == MoveStage::observing);
  CHECK(world.content("target") == before);
  CHECK(world.content("source") == before);
  CHECK(world.finalize().stage == MoveStage::done);
  CHECK_FALSE(world.home_record("source").has_value());
  CHECK_FALSE(world.has_capture("target"));
  CHECK(world.content("target") == before);
  // Counters go on, triggers fire, foreign keys hold.
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "INSERT INTO customer (name) VALUES ('new')");
  cluster.execute(MoveWorld::shard, "INSERT INTO invoice (customer, total) VALUES (21, 1)");
  CHECK(count(world, "audit", "target") == 21);
  CHECK_THROWS_AS(
      cluster.execute(MoveWorld::shard, "INSERT INTO invoice (customer, total) VALUES (999, 1)"),
      Error);
  cluster.execute(MoveWorld::shard, "DELETE FROM customer WHERE id = 1");
  CHECK(count(world, "invoice", "target") == 20);
}

TEST_CASE("PostgreSQL: a rollback brings every later write back to the source") {
  if (no_server()) return;
  MoveWorld world(shop, Engine::postgres);
  fill(world, 10);
  CHECK(world.run().stage == MoveStage::observing);
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "INSERT INTO customer (name) VALUES ('later')");
  cluster.execute(MoveWorld::shard, "INSERT INTO invoice (customer, total) VALUES (11, 7)");
  cluster.execute(MoveWorld::shard, "DELETE FROM customer WHERE id = 2");
  cluster.execute(MoveWorld::shard, "UPDATE customer SET name = 'renamed' WHERE id = 3");
  const auto after = world.content("target");
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(world.content("source") == after);
  CHECK_FALSE(world.home_record("target").has_value());
  CHECK_FALSE(world.has_capture("source"));
  cluster.execute(MoveWorld::shard, "INSERT INTO invoice (customer, total) VALUES (11, 8)");
  CHECK(count(world, "audit", "source") == 12);
}

TEST_CASE(
    "PostgreSQL: writes that bypass the router are captured, and refused after the decision") {
  if (no_server()) return;
  MoveWorld world(shop, Engine::postgres);
  fill(world, 10);
  {
    AtPoint at(FaultPoint::backfill_chunk_read, [&] {
      world.sql("DELETE FROM customer WHERE id = 5; UPDATE customer SET name = 'x' WHERE id = 6");
      CHECK_THROWS_AS(world.sql("TRUNCATE audit"), Error);
    });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(count(world, "customer", "target") == 9);
  CHECK_THROWS_AS(world.sql("UPDATE customer SET name = 'late' WHERE id = 7"), Error);
}

}  // namespace ringshard::testing
