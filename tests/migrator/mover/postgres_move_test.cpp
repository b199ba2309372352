#include <iostream>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"
#include "support/postgres.hpp"

// Moves from one PostgreSQL database to another, with what only PostgreSQL has.

namespace ringshard::testing {
namespace {

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
    "CREATE TRIGGER asleep AFTER DELETE ON audit FOR EACH ROW EXECUTE FUNCTION note();"
    "ALTER TABLE audit DISABLE TRIGGER asleep;"
    "CREATE TABLE event (id bigint, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);"
    "CREATE TABLE event_new PARTITION OF event FOR VALUES FROM ('2020-01-01') TO (MAXVALUE);"
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
  cluster.execute(MoveWorld::shard, "DELETE FROM audit WHERE id = 1");  // its trigger is turned off
  CHECK(count(world, "pg_constraint WHERE NOT convalidated", "target") == 0);
  cluster.execute(MoveWorld::shard, "INSERT INTO audit (what) VALUES ('again')");
  CHECK_THROWS_AS(
      cluster.execute(MoveWorld::shard, "INSERT INTO invoice (customer, total) VALUES (999, 1)"),
      Error);
  cluster.execute(MoveWorld::shard, "DELETE FROM customer WHERE id = 1");
  CHECK(count(world, "invoice", "target") == 20);
}

TEST_CASE("PostgreSQL: what can not be followed is refused by name before anything moves") {
  if (no_server()) return;
  const auto refusal = [](const char* schema) {
    MoveWorld world(schema, Engine::postgres);
    std::string message;
    try {
      world.run();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::schema);
      message = error.what();
    }
    CHECK(world.home_record("source")->peer.empty());
    CHECK_FALSE(world.home_record("target").has_value());
    return message;
  };
  CHECK(refusal("CREATE TABLE t (id bigint PRIMARY KEY); ALTER TABLE t ENABLE ROW LEVEL SECURITY, "
                "FORCE ROW LEVEL SECURITY; CREATE POLICY few ON t USING (id = 1)")
            .find("row level security") != std::string::npos);
  CHECK(refusal("CREATE TYPE pair AS (a int, b int); CREATE TABLE t (id pair PRIMARY KEY)")
            .find("composite type") != std::string::npos);
}

TEST_CASE("PostgreSQL: a session whose triggers are off is captured, and refused all the same") {
  if (no_server()) return;
  MoveWorld world(shop, Engine::postgres);
  fill(world, 6);
  // Only the server's superuser can turn them off.
  const auto as_replica = [&](const char* node, const std::string& sql) {
    std::string dsn = world.dsn(node);
    dsn.replace(dsn.find("ringshard@"), 10, "postgres@");
    run_postgres(dsn, "SET session_replication_role TO replica; SET search_path TO shop_0; " + sql);
  };
  {
    AtPoint at(FaultPoint::after_ready, [&] {
      as_replica("source", "UPDATE customer SET name = 'by a replica' WHERE id = 2");
      as_replica("source", "DELETE FROM event");
    });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(count(world, "customer WHERE name = 'by a replica'", "target") == 1);
  CHECK_THROWS(as_replica("source", "UPDATE customer SET name = 'late' WHERE id = 1"));
  CHECK_THROWS(as_replica("source", "INSERT INTO event VALUES (9, '2024-01-01')"));
  CHECK(world.verify().equal());
}

TEST_CASE("PostgreSQL: a table that is altered during its move is noticed before the decision") {
  if (no_server()) return;
  for (const char* change : {"ALTER TABLE invoice ADD COLUMN remark text",
                             "ALTER TABLE customer ALTER COLUMN name TYPE varchar(200)",
                             "CREATE INDEX invoice_total ON invoice (total)"}) {
    INFO(change);
    MoveWorld world(shop, Engine::postgres);
    fill(world, 10);
    {
      AtPoint at(FaultPoint::after_ready, [&] { world.sql(change); });
      std::string message;
      try {
        world.run();
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::schema);
        message = error.what();
      }
      CHECK(message.find("not the same any more") != std::string::npos);
      CHECK(at.reached());
    }
    CHECK(world.home_record("source")->role == Role::owner);
    CHECK(world.abort().stage == MoveStage::reverted);
    CHECK_FALSE(world.has_capture("source"));
    CHECK(count(world, "invoice", "source") == 10);
  }
}

TEST_CASE("PostgreSQL: a move and its way back work through PgBouncer in transaction mode") {
  if (no_server()) return;
  if (TestDatabase().pooled_dsn().empty()) {
    std::cout << "test skipped: PgBouncer is not installed\n";
    return;
  }
  MoveWorld world(shop, Engine::pgbouncer);
  fill(world, 10);
  {
    Cluster cluster = world.cluster();
    AtPoint at(FaultPoint::backfill_chunk_read, [&] {
      cluster.execute(MoveWorld::shard, "UPDATE customer SET name = 'during' WHERE id = 9");
    });
    CHECK(world.run().stage == MoveStage::observing);
    cluster.execute(MoveWorld::shard, "DELETE FROM customer WHERE id = 4");
    CHECK(cluster.statistics().mirror_writes > 0);
    CHECK(cluster.statistics().mirror_failures == 0);
  }
  const auto after = world.content("target");
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(world.content("source") == after);
}

TEST_CASE("PostgreSQL: values of every kind arrive, copied and double-written") {
  if (no_server()) return;
  MoveWorld world(
      "CREATE TYPE span AS (a int, b text);"
      "CREATE TABLE v (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n numeric, f4 real, f8 "
      "double "
      "precision, b bytea, ts timestamptz, d date, iv interval, ip inet, r int4range, ts_array "
      "timestamptz[], j json, jb jsonb, bits bit varying, x xml, m money, flag boolean, c char(5), "
      "whole span)",
      Engine::postgres);
  const std::string rows =
      "INSERT INTO v (n, f4, f8, b, ts, d, iv, ip, r, ts_array, j, jb, bits, x, m, flag, c, whole) "
      "VALUES (332.20, 0.1, 0.1, '\\x00ff', '2024-03-31 02:30:00+01', '0044-03-15 BC', '1 mon -2 "
      "days 03:04:05.6', '10.0.0.1/8', '[1,5)', ARRAY['infinity'::timestamptz, NULL], "
      "'{\"a\":  1}', '{\"b\": [1.50, null]}', B'0101', '<a>1</a>', 12.5, true, 'ab', "
      "ROW(1, 'x,\"y\"')), "
      "('NaN', '-Infinity', '-0', '', '-infinity', 'infinity', NULL, '::1', 'empty', '{}', 'null', "
      "'null', B'', NULL, NULL, false, '', NULL), "
      "(1e-20, 3.4028235e38, 1.7976931348623157e308, '\\x5c', '0001-01-01 00:00:00 BC', NULL, "
      "NULL, "
      "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, ROW(NULL, ''))";
  world.sql(rows);
  {
    // In a session whose settings would show them otherwise.
    AtPoint at(FaultPoint::after_ready, [&] {
      world.cluster().transact(MoveWorld::shard, [&](Transaction& tx) {
        tx.execute("SET LOCAL datestyle TO 'SQL, DMY'");
        tx.execute("SET LOCAL timezone TO 'Asia/Tokyo'");
        tx.execute("SET LOCAL extra_float_digits TO -10");
        tx.execute("SET LOCAL bytea_output TO escape");
        tx.execute("SET LOCAL intervalstyle TO sql_standard");
        tx.execute(rows);
      });
    });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(count(world, "v", "target") == 6);
  CHECK(world.content("source") == world.content("target"));
}

TEST_CASE("PostgreSQL: unique values that change hands, cascades and a composite key arrive") {
  if (no_server()) return;
  MoveWorld world(
      "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
      "CREATE TABLE tag (name text COLLATE folded, place int, rank int UNIQUE, PRIMARY KEY (place, "
      "name));"
      "CREATE UNIQUE INDEX tag_partial ON tag (lower(name)) WHERE rank < 100;"
      "CREATE TABLE node (id bigint PRIMARY KEY, up bigint REFERENCES node (id) ON DELETE CASCADE "
      "DEFERRABLE INITIALLY DEFERRED);"
      "CREATE TABLE \"Order\" (\"select\" bigint PRIMARY KEY, \"a \"\"b\" text);"
      "CREATE TABLE part (id bigint, at date, v text, PRIMARY KEY (id, at)) PARTITION BY RANGE "
      "(at);"
      "CREATE TABLE part_old PARTITION OF part FOR VALUES FROM (MINVALUE) TO ('2020-01-01');"
      "CREATE TABLE part_new PARTITION OF part FOR VALUES FROM ('2020-01-01') TO (MAXVALUE);",
      Engine::postgres);
  world.sql(
      "INSERT INTO tag SELECT 'Tag' || i, i % 3, i FROM generate_series(1, 20) i;"
      "INSERT INTO node SELECT i, NULLIF(i / 2, 0) FROM generate_series(1, 15) i;"
      "INSERT INTO \"Order\" SELECT i, 'x' FROM generate_series(1, 5) i;"
      "INSERT INTO part SELECT i, '2019-12-25'::date + i, 'p' FROM generate_series(1, 14) i");
  const auto change = [&world] {
    Cluster cluster = world.cluster();
    cluster.transact(MoveWorld::shard, [](Transaction& tx) {
      tx.execute("UPDATE tag SET rank = -rank WHERE rank IN (1, 2)");
      tx.execute("UPDATE tag SET rank = CASE rank WHEN -1 THEN 2 ELSE 1 END WHERE rank < 0");
      tx.execute("DELETE FROM node WHERE id = 3");
      tx.execute("INSERT INTO node VALUES (101, 100), (100, NULL)");
      tx.execute("UPDATE part SET at = '2021-01-01' WHERE id = 1");
      tx.execute("UPDATE tag SET name = upper(name) WHERE rank = 5");
    });
    cluster.execute(MoveWorld::shard, "DELETE FROM \"Order\" WHERE \"select\" = 2");
  };
  {
    AtPoint at(FaultPoint::backfill_chunk_read, change, 2);
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(world.content("source") == world.content("target"));
  world.cluster().transact(MoveWorld::shard, [](Transaction& tx) {
    tx.execute("UPDATE tag SET rank = -rank WHERE rank IN (7, 8)");
    tx.execute("UPDATE tag SET rank = CASE rank WHEN -7 THEN 8 ELSE 7 END WHERE rank < 0");
    tx.execute("DELETE FROM node WHERE id = 2");
    tx.execute("INSERT INTO node VALUES (201, 200), (200, 100)");
  });
  const auto after = world.content("target");
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(world.content("source") == after);
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
      CHECK_THROWS_AS(world.sql("TRUNCATE event_new"), Error);
    });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(count(world, "customer", "target") == 9);
  CHECK_THROWS_AS(world.sql("UPDATE customer SET name = 'late' WHERE id = 7"), Error);
}

}  // namespace ringshard::testing
