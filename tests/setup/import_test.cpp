#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
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

const std::string source_sql =
    "CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE customer (id INTEGER PRIMARY KEY AUTOINCREMENT, name, genre REFERENCES genre "
    "(id));"
    "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer "
    "(id)"
    " ON DELETE CASCADE, total REAL);"
    "INSERT INTO genre VALUES (1, 'rock'), (2, 'jazz');"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
    " INSERT INTO customer SELECT i, 'customer ' || i, 1 + i % 2 FROM n;"
    "INSERT INTO invoice SELECT id * 10 + k, id, id / 7.0 FROM customer, (SELECT 1 AS k UNION "
    "SELECT 2);"
    "DELETE FROM customer WHERE id > 490; DELETE FROM invoice WHERE customer > 490;";

/// Ends the process at a step of the import, as if it was killed there.
class KillAt : public Progress {
 public:
  explicit KillAt(std::string stage) : stage_(std::move(stage)) {}
  void report(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override {
    if (stage == stage_) raise(SIGKILL);
  }

 private:
  std::string stage_;
};

}  // namespace

TEST_CASE("an import divides rows by their key and proves that all of them arrived") {
  FleetFixture fleet("int64", 16, tables);
  fleet.init();
  const ImportReport report = fleet.import_sql(source_sql);
  CHECK(report.rows == 490 + 980 + 2);
  CHECK(report.homes == 16);
  CHECK(fleet.in_all_homes("SELECT count(*) FROM customer").size() == 16);
  CHECK(fleet.in_all_homes("SELECT id FROM customer").size() == 490);
  CHECK(fleet.in_all_homes("SELECT i.id FROM invoice i JOIN customer c ON c.id = i.customer")
            .size() == 980);
  CHECK(fleet.in_all_homes("SELECT c.id FROM customer c JOIN genre g ON g.id = c.genre").size() ==
        490);
  const Topology topology = fleet.catalog().topology("shop");
  const auto homes = fleet.homes();
  for (std::uint32_t shard = 0; shard < 16; ++shard)
    for (const std::string& id : run_sql(homes[shard], "SELECT id FROM customer"))
      CHECK(topology.shard_of(Key(std::stoll(id))) == ShardId{shard});
}

TEST_CASE("new rows get no id that a row of the source had, in any home") {
  FleetFixture fleet("int64", 8, tables);
  fleet.init();
  fleet.import_sql(source_sql);
  for (const auto& home : fleet.homes())
    CHECK(run_sql(home, "INSERT INTO customer (name) VALUES ('new') RETURNING id") ==
          std::vector<std::string>{"501"});
}

TEST_CASE("composite keys, text keys and names that need quotes are imported") {
  FleetFixture fleet(
      "text,int64", 8,
      "    - {name: 'Order \"x\"', key: ['the tenant', 'select']}\n"
      "    - {name: 'größe', parent: {table: 'Order \"x\"', columns: {'o t': 'the tenant', 'o s': "
      "'select'}}}\n"
      "    - {name: 'größe''s child', parent: {table: 'größe', columns: {p: 'nr'}}}\n");
  fleet.init();
  fleet.import_sql(
      "CREATE TABLE \"Order \"\"x\"\"\" (\"the tenant\" TEXT, [select] INTEGER, v,"
      " PRIMARY KEY ([select], \"the tenant\")) WITHOUT ROWID;"
      "CREATE TABLE `größe` (nr TEXT PRIMARY KEY NOT NULL, [o t] TEXT, [o s] INTEGER, twice AS (nr "
      "|| nr));"
      "CREATE TABLE \"größe's child\" (id INTEGER PRIMARY KEY, p TEXT NOT NULL UNIQUE);"
      "INSERT INTO \"Order \"\"x\"\"\" VALUES ('a', 1, x'00ff'), ('a', 2, 1.0), ('b,c', -1, '1'), "
      "('', 0, NULL);"
      "INSERT INTO `größe` VALUES ('one', 'a', 1), ('two', 'b,c', -1), ('three', '', 0);"
      "INSERT INTO \"größe's child\" VALUES (1, 'one'), (2, 'three');");
  CHECK(fleet.in_all_homes("SELECT \"the tenant\", [select], quote(v) FROM \"Order \"\"x\"\"\"")
            .size() == 4);
  CHECK(fleet.in_all_homes("SELECT c.id, g.twice, o.[select] FROM \"größe's child\" c "
                           "JOIN `größe` g ON g.nr = c.p JOIN \"Order \"\"x\"\"\" o "
                           "ON o.[select] = g.[o s] AND o.\"the tenant\" = g.[o t]") ==
        std::vector<std::string>{"1|oneone|1", "2|threethree|0"});
}

TEST_CASE("everything that is wrong with a source is said at once, before anything is written") {
  FleetFixture fleet("int64", 4, tables);
  fleet.init();
  const std::string message = message_of(ErrorCode::schema, [&] {
    fleet.import_sql(source_sql +
                     "CREATE TABLE forgotten (id INTEGER PRIMARY KEY);"
                     "CREATE TABLE too (id INTEGER PRIMARY KEY);");
  });
  CHECK(contains(message, "'forgotten' is not in the configuration"));
  CHECK(contains(message, "'too' is not in the configuration"));
  CHECK(fleet.files_on_nodes().empty());
  CHECK(fleet.state() == KeyspaceState::empty);
}

TEST_CASE("rows without a place are counted and refused: no key, a wrong key, no parent") {
  FleetFixture fleet("int64", 4,
                     "    - {name: customer, key: id}\n"
                     "    - {name: visit, key: customer}\n"
                     "    - {name: invoice, parent: {table: customer, columns: {customer: id}}}\n");
  fleet.init();
  const std::string message = message_of(ErrorCode::schema, [&] {
    fleet.import_sql(
        "CREATE TABLE customer (id INTEGER PRIMARY KEY);"
        "CREATE TABLE visit (id INTEGER PRIMARY KEY, customer);"
        "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer INTEGER);"
        "INSERT INTO customer VALUES (1);"
        "INSERT INTO visit VALUES (1, 1), (2, NULL), (3, 'x'), (4, 1.5);"
        "INSERT INTO invoice VALUES (1, 1), (2, 2), (3, NULL), (4, 9);");
  });
  CHECK(contains(message, "'visit' has 1 row whose key is NULL"));
  CHECK(contains(message, "'visit' has 2 rows whose key is not of the keyspace's type int64"));
  CHECK(contains(message, "'invoice' has 3 rows whose parent in 'customer' does not exist"));
  CHECK(fleet.files_on_nodes().empty());
}

TEST_CASE("a table without a primary key is refused by name") {
  FleetFixture fleet("int64", 4, "    - {name: customer, key: id}\n");
  fleet.init();
  const std::string message = message_of(
      ErrorCode::schema, [&] { fleet.import_sql("CREATE TABLE customer (id INTEGER)"); });
  CHECK(contains(message, "'customer'"));
  CHECK(contains(message, "primary key"));
}

TEST_CASE(
    "foreign keys that could not hold are refused: to other shards, and out of reference tables") {
  FleetFixture fleet("int64", 16, tables);
  fleet.init();
  std::string message = message_of(ErrorCode::schema, [&] {
    fleet.import_sql(
        "CREATE TABLE genre (id INTEGER PRIMARY KEY, best INTEGER REFERENCES customer);"
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, friend INTEGER REFERENCES customer (id));"
        "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer INTEGER);"
        "INSERT INTO customer VALUES (1, 1), (2, 2), (3, 4), (4, 5), (5, 3), (6, NULL);");
  });
  CHECK(contains(message, "from a reference table"));
  CHECK(contains(message, "from 'customer' to 'customer' leads"));
  CHECK(contains(message, "another shard"));
}

TEST_CASE("views and triggers go where their tables are, and what can go nowhere is told") {
  FleetFixture fleet("int64", 4, tables);
  fleet.init();
  const ImportReport report = fleet.import_sql(
      source_sql +
      "CREATE VIEW big AS SELECT * FROM invoice WHERE total > 10;"
      "CREATE VIEW genres AS SELECT name FROM genre;"
      "CREATE VIEW mixed AS SELECT c.name, g.name FROM customer c, genre g ON g.id = c.genre;"
      "CREATE TRIGGER gone AFTER DELETE ON customer BEGIN DELETE FROM invoice WHERE customer = "
      "old.id; END;"
      "CREATE TRIGGER kept AFTER DELETE ON genre BEGIN SELECT 1; END;");
  CHECK(fleet.in_all_homes("SELECT name FROM main.sqlite_schema WHERE name IN ('big', 'gone')")
            .size() == 8);
  CHECK(fleet
            .in_all_homes(
                "SELECT name FROM main.sqlite_schema WHERE name IN ('genres', 'mixed', 'kept')")
            .empty());
  CHECK(run_sql(fleet.node("b") / "shop_reference.db", "SELECT name FROM genres").size() == 2);
  bool told = false;
  for (const std::string& note : report.notes) told = told || contains(note, "'mixed'");
  CHECK(told);
}

TEST_CASE("a trigger that no home could run is refused") {
  FleetFixture fleet("int64", 4, tables);
  fleet.init();
  CHECK(contains(message_of(ErrorCode::schema,
                            [&] {
                              fleet.import_sql(source_sql +
                                               "CREATE TRIGGER t AFTER UPDATE ON invoice BEGIN"
                                               "  UPDATE genre SET name = name; END;");
                            }),
                 "table 'invoice' could not be written"));
  CHECK(fleet.files_on_nodes().empty());
}

TEST_CASE("a keyspace that is ready takes no import") {
  FleetFixture fleet("int64", 4, tables);
  fleet.init();
  fleet.import_sql(source_sql);
  const auto before = fleet.in_all_homes("SELECT * FROM invoice");
  CHECK(contains(message_of(ErrorCode::refused, [&] { fleet.import_file(fleet.source()); }),
                 "ready"));
  CHECK(fleet.in_all_homes("SELECT * FROM invoice") == before);
  CHECK(fleet.state() == KeyspaceState::ready);
}

TEST_CASE("an import that is killed leaves the keyspace unusable, and the next one starts over") {
  for (const std::string stage : {"check the source", "make homes", "copy rows", "compare"}) {
    FleetFixture fleet("int64", 4, tables);
    fleet.init();
    run_sql(fleet.source(), source_sql);
    const pid_t child = fork();
    if (child == 0) {
      KillAt killer(stage);
      import_database(fleet.config, "sqlite:" + fleet.source().string(), system_clock(), killer);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(message_of(ErrorCode::refused, [&] { fleet.catalog().topology("shop"); }) != "");
    fleet.import_file(fleet.source());
    CHECK(fleet.state() == KeyspaceState::ready);
    CHECK(fleet.in_all_homes("SELECT id FROM invoice").size() == 980);
    CHECK(fleet.files_on_nodes().size() == 4 + 3);
  }
}

TEST_CASE("an import that a newer one overtook stops and does not make the keyspace ready") {
  FleetFixture fleet("int64", 4, tables);
  fleet.init();
  run_sql(fleet.source(), source_sql);
  class Overtake : public Progress {
   public:
    explicit Overtake(FleetFixture& fleet) : fleet_(fleet) {}
    void report(std::string_view stage, std::int64_t done, std::int64_t total,
                std::string_view) override {
      if (stage == "make homes" && done == total) fleet_.catalog().begin_setup("shop");
    }

   private:
    FleetFixture& fleet_;
  };
  Overtake overtake(fleet);
  const std::string message = message_of(ErrorCode::lease_lost, [&] {
    import_database(fleet.config, "sqlite:" + fleet.source().string(), system_clock(), overtake);
  });
  CHECK(contains(message, "another init or import"));
  CHECK(fleet.state() == KeyspaceState::importing);
  CHECK(fleet.in_all_homes("SELECT id FROM customer").empty());
}

TEST_CASE("an import needs a keyspace, a source and the fixed settings as they are") {
  FleetFixture fleet("int64", 4, tables);
  CHECK(contains(message_of(ErrorCode::not_found, [&] { fleet.import_sql(source_sql); }), "init"));
  fleet.init();
  CHECK(message_of(ErrorCode::not_found, [&] { fleet.import_file(fleet.folder / "none.db"); }) !=
        "");
  CHECK_FALSE(std::filesystem::exists(fleet.folder / "none.db"));
  fleet.config.keyspace.shards = 8;
  CHECK(contains(message_of(ErrorCode::config, [&] { fleet.import_file(fleet.source()); }),
                 "4 shards"));
}

TEST_CASE("an empty source is imported: zero rows, and the homes are there") {
  FleetFixture fleet("int64", 4, "    - {name: customer, key: id}\n");
  fleet.init();
  const ImportReport report = fleet.import_sql("CREATE TABLE customer (id INTEGER PRIMARY KEY)");
  CHECK(report.rows == 0);
  CHECK(fleet.state() == KeyspaceState::ready);
  CHECK(fleet.files_on_nodes().size() == 4);
}

TEST_CASE("rows beyond the memory for them are written in parts") {
  FleetFixture fleet("int64", 2, "    - {name: customer, key: id}\n");
  fleet.init();
  fleet.import_sql(
      "CREATE TABLE customer (id INTEGER PRIMARY KEY, picture BLOB);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70)"
      " INSERT INTO customer SELECT i, randomblob(1000000) FROM n;");
  CHECK(fleet.in_all_homes("SELECT id FROM customer").size() == 70);
}
