#include <string>

#include "setup_fixture.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

const std::string tables =
    "    - {name: customer, key: id}\n"
    "    - {name: invoice, parent: {table: customer, columns: {customer: id}}}\n"
    "    - {name: genre, reference: true}\n";

const std::string schema =
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);\n"
    "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES "
    "customer);\n"
    "CREATE INDEX invoice_customer ON invoice (customer);\n"
    "CREATE TABLE genre (id INTEGER PRIMARY KEY; name TEXT);\n";

std::string good_schema() {
  std::string sql = schema;
  sql[sql.find("; name")] = ',';
  return sql;
}

}  // namespace

TEST_CASE("init makes catalog, placement, and a home for each shard with the tables of the file") {
  FleetFixture fleet("int64", 8, tables);
  fleet.with_schema(good_schema());
  const InitReport report = fleet.init();
  CHECK(report.state == KeyspaceState::ready);
  CHECK(report.homes == 8);
  CHECK(fleet.files_on_nodes().size() == 8 + 3);
  CHECK(fleet.in_all_homes("SELECT name FROM main.sqlite_schema WHERE name = 'invoice_customer'")
            .size() == 8);
  CHECK(fleet.in_all_homes("SELECT name FROM main.sqlite_schema WHERE name = 'genre'").empty());
  CHECK(
      fleet.in_all_homes("SELECT name FROM ringshard_reference.sqlite_schema WHERE name = 'genre'")
          .size() == 8);
  CHECK(fleet.in_all_homes("SELECT role, leg, peer FROM ringshard_home").size() == 8);
  const auto definition = fleet.catalog().keyspace("shop").value();
  CHECK(definition.schemas.at("sqlite").home.tables.size() == 2);
  CHECK(definition.schemas.at("sqlite").reference.tables.size() == 1);
  CHECK(fleet.catalog().topology("shop").shard_count() == 8);
}

TEST_CASE("init of a keyspace that is there is refused and changes nothing") {
  FleetFixture fleet("int64", 4, tables);
  fleet.with_schema(good_schema());
  fleet.init();
  run_sql(fleet.homes()[0], "INSERT INTO customer VALUES (1, 'Anna')");
  CHECK(contains(message_of(ErrorCode::already_exists, [&] { fleet.init(); }), "is ready"));
  CHECK(fleet.in_all_homes("SELECT name FROM customer").size() == 1);
}

TEST_CASE("a broken schema file is an error that names it, and nothing is left behind") {
  FleetFixture fleet("int64", 4, tables);
  fleet.with_schema(schema);
  const std::string message = message_of(ErrorCode::schema, [&] { fleet.init(); });
  CHECK(contains(message, "schema.sql"));
  CHECK(fleet.files_on_nodes().empty());
  CHECK_FALSE(std::filesystem::exists(fleet.folder / "catalog.db"));
  fleet.with_schema(good_schema());
  CHECK(fleet.init().state == KeyspaceState::ready);
}

TEST_CASE("init says everything that is wrong with the tables at once, and makes nothing") {
  FleetFixture fleet("int64,text", 4,
                     "    - {name: customer, key: [id, Region]}\n"
                     "    - {name: nokey, key: [id, id]}\n"
                     "    - {name: line, parent: {table: customer, columns: {customer: name}}}\n"
                     "    - {name: missing, reference: true}\n");
  fleet.config.keyspace.tables[1].key = {"id"};
  fleet.with_schema(
      "CREATE TABLE customer (id INTEGER PRIMARY KEY, region TEXT, name TEXT);"
      "CREATE TABLE nokey (id INTEGER);"
      "CREATE TABLE line (id INTEGER PRIMARY KEY, customer TEXT);"
      "CREATE TABLE unmentioned (id INTEGER PRIMARY KEY);"
      "INSERT INTO unmentioned VALUES (1);");
  const std::string message = message_of(ErrorCode::schema, [&] { fleet.init(); });
  CHECK(contains(message, "'Region'"));
  CHECK(contains(message, "it has 'region'"));
  CHECK(contains(message, "'nokey' has no primary key"));
  CHECK(contains(message, "name one column for each part"));
  CHECK(contains(message, "do not name one row"));
  CHECK(contains(message, "no table 'missing'"));
  CHECK(contains(message, "'unmentioned' is not in the configuration"));
  CHECK(contains(message, "it puts rows into table 'unmentioned'"));
  CHECK(fleet.files_on_nodes().empty());
}

TEST_CASE("a foreign key that leaves the home is an obstacle at init") {
  FleetFixture fleet("int64", 4, tables);
  fleet.with_schema(
      "CREATE TABLE genre (id INTEGER PRIMARY KEY);"
      "CREATE TABLE customer (id INTEGER PRIMARY KEY, genre INTEGER REFERENCES genre);"
      "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer INTEGER);");
  const std::string message = message_of(ErrorCode::schema, [&] { fleet.init(); });
  CHECK(contains(message, "from 'customer' to 'genre'"));
  CHECK(fleet.files_on_nodes().empty());
}

TEST_CASE("a trigger that needs a table of another home is an obstacle at init") {
  FleetFixture fleet("int64", 4, tables);
  fleet.with_schema(good_schema() +
                    "CREATE TRIGGER t AFTER INSERT ON customer BEGIN"
                    "  SELECT RAISE(ABORT, 'no') WHERE NOT EXISTS (SELECT 1 FROM genre); END;");
  CHECK(
      contains(message_of(ErrorCode::schema, [&] { fleet.init(); }), "table 'customer' could not"));
}

TEST_CASE("an init that broke off is begun anew by the next one") {
  FleetFixture fleet("int64", 4, tables);
  fleet.with_schema(good_schema());
  // What a process leaves that was killed while it made homes.
  fleet.config.keyspace.schema.clear();
  fleet.init();
  fleet.catalog().begin_setup("shop");
  const auto half_made = fleet.homes()[0];
  run_sql(half_made, "CREATE TABLE customer (other TEXT)");
  fleet.with_schema(good_schema());
  CHECK(message_of(ErrorCode::refused, [&] { fleet.catalog().topology("shop"); }) != "");
  CHECK(fleet.init().state == KeyspaceState::ready);
  CHECK(fleet.in_all_homes("SELECT name FROM main.sqlite_schema WHERE name = 'invoice_customer'")
            .size() == 4);
}

TEST_CASE("homes that the catalog does not know are left alone, and init is refused") {
  FleetFixture fleet("int64", 4, tables);
  fleet.with_schema(good_schema());
  fleet.init();
  run_sql(fleet.homes()[0], "INSERT INTO customer VALUES (1, 'Anna')");
  const auto home = fleet.homes()[0];
  std::filesystem::rename(fleet.folder / "catalog.db", fleet.folder / "lost.db");
  std::filesystem::remove(fleet.folder / "catalog.db-wal");
  std::filesystem::remove(fleet.folder / "catalog.db-shm");
  CHECK(contains(message_of(ErrorCode::refused, [&] { fleet.init(); }), "right catalog"));
  CHECK(run_sql(home, "SELECT name FROM customer").size() == 1);
}

TEST_CASE("pins and forbidden places hold from the first placement on") {
  FleetFixture fleet("int64", 12, tables);
  fleet.with_schema(good_schema());
  fleet.config.pins = {{0, "c"}, {1, "c"}};
  fleet.config.forbidden = {{2, {"a", "b"}}};
  fleet.init();
  const Topology topology = fleet.catalog().topology("shop");
  for (const std::uint32_t shard : {0U, 1U, 2U})
    CHECK(topology.node(topology.node_of(ShardId{shard})).name == "c");
  CHECK(topology.shards_of(topology.find_node("a").value()).size() == 4);
}
