// The whole way on PostgreSQL: init, an application's writes, a node that joins, apply, verify.

#include "support/postgres.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ringshard/ringshard.hpp>
#include <sstream>
#include <thread>

#include "cli/fleet.hpp"
#include "migrator/commands/commands.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"
#include "support/sqlite_file.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

constexpr auto postgres_schema =
    "CREATE TYPE level AS ENUM ('new', 'old');\n"
    "CREATE TABLE customer (id bigint PRIMARY KEY, name text NOT NULL, level level);\n"
    "CREATE TABLE invoice (id bigserial PRIMARY KEY, customer_id bigint NOT NULL\n"
    "  REFERENCES customer (id) ON DELETE CASCADE, total numeric(12, 2));\n"
    "CREATE INDEX invoice_customer ON invoice (customer_id);\n"
    "CREATE TABLE genre (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);\n"
    "CREATE VIEW named AS SELECT id, name FROM customer;\n";

constexpr auto sqlite_schema =
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, level TEXT);\n"
    "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL\n"
    "  REFERENCES customer (id) ON DELETE CASCADE, total NUMERIC);\n"
    "CREATE INDEX invoice_customer ON invoice (customer_id);\n"
    "CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT);\n"
    "CREATE VIEW named AS SELECT id, name FROM customer;\n";

/// Databases of PostgreSQL by these names; every other name is a folder of SQLite files.
class PostgresFleet {
 public:
  explicit PostgresFleet(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      databases_.emplace(name, std::make_unique<TestDatabase>());
    folder_.write("schema.sql", postgres_schema);
    folder_.write("schema.sqlite.sql", sqlite_schema);
  }

  std::string dsn(const std::string& name) const {
    const auto found = databases_.find(name);
    return found != databases_.end() ? found->second->dsn() : "sqlite:" + (folder_ / name).string();
  }
  const TemporaryFolder& folder() const { return folder_; }

  void configure(
      const std::vector<std::string>& nodes, const std::vector<std::string>& draining = {},
      const std::string& schema = "{postgres: schema.sql, sqlite: schema.sqlite.sql}") const {
    std::string text = "catalog: \"" + dsn("catalog") +
                       "\"\nkeyspace:\n  name: shop\n  key: int64\n  shards: 6\n" +
                       (schema.empty() ? "" : "  schema: " + schema + "\n") +
                       "  tables:\n"
                       "    - {name: customer, key: id}\n"
                       "    - {name: invoice, parent: {table: customer, columns: {customer_id: "
                       "id}}}\n"
                       "    - {name: genre, reference: true}\nnodes:\n";
    for (const std::string& node : nodes)
      text += "  - {name: " + node + ", dsn: \"" + dsn(node) + "\"}\n";
    for (const std::string& node : draining)
      text += "  - {name: " + node + ", dsn: \"" + dsn(node) + "\", state: draining}\n";
    folder_.write("ringshard.yaml", text + "move: {observe_for: 0s}\n");
  }

  void add_customers(Cluster& cluster, std::int64_t first, std::int64_t last) const {
    for (std::int64_t id = first; id <= last; ++id)
      cluster.transact(id, [&](Transaction& tx) {
        tx.execute("INSERT INTO customer VALUES ($1, $2, 'new')", id, "name " + std::to_string(id));
        tx.execute("INSERT INTO invoice (customer_id, total) VALUES ($1, 1.5)", id);
      });
  }

  std::string config() const { return (folder_ / "ringshard.yaml").string(); }

  Ran run(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, {"--config", config()});
    std::ostringstream out;
    std::ostringstream err;
    cli::Context context{.out = out, .err = err, .clock = system_clock()};
    Ran ran;
    ran.exit_code = cli::run_program(words, context);
    ran.out = out.str();
    ran.err = err.str();
    return ran;
  }

  Ran done(const std::vector<std::string>& words) const {
    const Ran ran = run(words);
    INFO(words[0] << "\n" << ran.out << "\n" << ran.err);
    REQUIRE(ran.exit_code == 0);
    return ran;
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::unique_ptr<TestDatabase>> databases_;
};

void in_reference_home(const std::string& dsn, const std::string& sql) {
  const HomeName home{"shop", std::nullopt};
  const auto session = open_backend(dsn, system_clock())->connect(home, SessionUse::maintenance);
  SessionTransaction tx(*session, home, TxMode::write, Deadline());
  session->run_script(sql);
  tx.commit();
}

}  // namespace

TEST_CASE("a PostgreSQL fleet is made, written to, and gets a third node") {
  if (no_server()) return;
  PostgresFleet fleet({"catalog", "a", "b", "c"});
  fleet.configure({"a", "b"});
  fleet.done({"init"});
  {
    Cluster cluster = Cluster::open(load_config(fleet.config()));
    fleet.add_customers(cluster, 1, 60);
    fleet.configure({"a", "b", "c"});
    fleet.done({"plan"});
    fleet.done({"apply"});
    for (std::int64_t id = 1; id <= 60; ++id)
      CHECK(cluster.query_value<std::int64_t>(id,
                                              "SELECT count(*) FROM invoice WHERE customer_id "
                                              "= $1",
                                              id) == 1);
    CHECK(cluster.scatter_sum("SELECT count(*) FROM named") == 60);
  }
  CHECK(fleet.done({"verify", "--json"}).json()["rows"] == 120);
  CHECK(fleet.done({"doctor", "--json"}).json()["clean"] == true);
  const auto status = fleet.done({"status", "--json"}).json();
  for (const auto& node : status["nodes"]) CHECK(node["shards"] == 2);
}

TEST_CASE("a fleet of SQLite files grows into PostgreSQL with one plan, and back") {
  if (no_server()) return;
  PostgresFleet fleet({"p", "q"});
  fleet.configure({"a", "b"}, {}, "schema.sqlite.sql");
  fleet.done({"init"});
  for (const char* node : {"a", "b"})
    in_reference_home(fleet.dsn(node), "INSERT INTO genre VALUES (1, 'rock'), (2, NULL)");
  Cluster cluster = Cluster::open(load_config(fleet.config()));
  fleet.add_customers(cluster, 1, 40);

  // Without definitions for the new kind of node nothing begins.
  fleet.configure({"p", "q"}, {"a", "b"}, "{sqlite: schema.sqlite.sql}");
  const Ran refused = fleet.run({"plan"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("keyspace.schema: {postgres: FILE}") != std::string::npos);

  fleet.configure({"p", "q"}, {"a", "b"});
  fleet.done({"apply", "--yes"});
  fleet.add_customers(cluster, 41, 60);
  CHECK(cluster.scatter_sum("SELECT count(*) FROM named") == 60);
  CHECK(cluster.scatter_sum("SELECT count(*) FROM genre WHERE name = 'rock'") == 6);
  CHECK(fleet.done({"verify", "--json"}).json()["rows"] == 120);
  CHECK(fleet.done({"doctor", "--json"}).json()["clean"] == true);

  fleet.configure({"p", "a"}, {"q"});
  fleet.done({"apply", "--yes"});
  fleet.add_customers(cluster, 61, 70);
  CHECK(cluster.scatter_sum("SELECT count(*) FROM invoice") == 70);
  CHECK(fleet.done({"verify", "--json"}).json()["verdict"] == "verified");
  CHECK(fleet.done({"doctor", "--json"}).json()["clean"] == true);
}

TEST_CASE("an SQLite database is imported into PostgreSQL nodes") {
  if (no_server()) return;
  PostgresFleet fleet({"p", "q"});
  const std::string source = (fleet.folder() / "shop.db").string();
  run_sql(source, sqlite_schema);
  run_sql(source,
          "INSERT INTO genre VALUES (1, 'rock');"
          "INSERT INTO customer VALUES (1, 'one', 'old'), (2, 'two', NULL), (77, '', 'new');"
          "INSERT INTO invoice VALUES (10, 1, 1.5), (20, 77, NULL), (30, 1, 12)");
  fleet.configure({"p", "q"}, {}, "");
  fleet.done({"init"});
  const Ran refused = fleet.run({"import", "--from", "sqlite:" + source});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("names no file for postgres") != std::string::npos);
  fleet.configure({"p", "q"});
  CHECK(fleet.done({"import", "--from", "sqlite:" + source, "--json"}).json()["rows"] == 7);
  Cluster cluster = Cluster::open(load_config(fleet.config()));
  CHECK(cluster.scatter_sum("SELECT count(*) FROM invoice") == 3);
  cluster.transact(std::int64_t{1}, [&](Transaction& tx) {
    CHECK(tx.query_value<std::string>("SELECT sum(total)::text FROM invoice") == "13.50");
    tx.execute("INSERT INTO invoice (customer_id, total) VALUES (1, 2)");
    CHECK(tx.query_value<std::int64_t>("SELECT max(id) FROM invoice") == 31);
  });
  CHECK(fleet.done({"verify", "--json"}).json()["verdict"] == "verified");
}

TEST_CASE("a router hears of a change of a PostgreSQL catalog at once") {
  if (no_server()) return;
  PostgresFleet fleet({"catalog", "p"});
  fleet.configure({"p"});
  fleet.done({"init"});
  Config config = load_config(fleet.config());
  config.router.poll_interval = std::chrono::hours(1);
  Cluster cluster = Cluster::open(config);
  const auto version = cluster.topology()->version();
  Catalog catalog = Catalog::open(config.catalog, system_clock());
  // The first look is when the router has begun to listen: what comes after it is told.
  for (std::uint64_t change = 1; change <= 3; ++change) {
    std::vector<NodeInfo> nodes = catalog.nodes("shop");
    nodes[0].weight += 1;
    catalog.store_nodes("shop", nodes);
    const Deadline deadline = Deadline::after(system_clock(), std::chrono::seconds(20));
    while (cluster.topology()->version() < version + change && !deadline.passed(system_clock()))
      system_clock().sleep_for(std::chrono::milliseconds(2));
    CHECK(cluster.topology()->version() == version + change);
  }
}

TEST_CASE("migrators that share a plan in a PostgreSQL catalog get different moves") {
  if (no_server()) return;
  PostgresFleet fleet({"catalog", "p", "q"});
  fleet.configure({"p"});
  fleet.done({"init"});
  const std::string dsn = fleet.dsn("catalog");
  Catalog catalog = Catalog::open(dsn, system_clock());
  std::vector<NodeInfo> nodes = catalog.nodes("shop");
  nodes.push_back(
      {.name = "q", .dsn = fleet.dsn("q"), .weight = 1, .state = NodeState::active, .zone = ""});
  std::vector<MoveRecord> moves;
  std::vector<std::string> ids;
  for (std::uint32_t shard = 0; shard < 6; ++shard) {
    MoveRecord move;
    move.id = "m" + std::to_string(shard);
    move.plan_id = "plan";
    move.keyspace = "shop";
    move.shard = ShardId{shard};
    move.source = "p";
    move.target = "q";
    ids.push_back(move.id);
    moves.push_back(move);
  }
  catalog.start_plan("shop", "plan", catalog.version("shop"), nodes, moves);
  std::vector<std::vector<std::string>> got(3);
  std::vector<std::thread> migrators;
  for (std::size_t i = 0; i < got.size(); ++i)
    migrators.emplace_back([&, i] {
      Catalog own = Catalog::open(dsn, system_clock());
      while (const auto id = own.lease_next(ids, "migrator " + std::to_string(i), Duration(60'000)))
        got[i].push_back(*id);
    });
  for (std::thread& migrator : migrators) migrator.join();
  std::vector<std::string> all;
  for (const auto& some : got) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  CHECK(all == ids);
  CHECK_FALSE(catalog.lease_next(ids, "late", Duration(60'000)).has_value());
  catalog.release_lease("m3", catalog.move("m3")->lease_holder);
  CHECK(catalog.lease_next(ids, "late", Duration(60'000)) == "m3");
}

TEST_CASE("preflight names what stands in the way of moves on PostgreSQL, with the mend") {
  if (no_server()) return;
  PostgresFleet fleet({"catalog", "p", "q"});
  fleet.configure({"p"});
  fleet.done({"init"});
  Cluster cluster = Cluster::open(load_config(fleet.config()));
  fleet.add_customers(cluster, 1, 20);
  fleet.configure({"q"}, {"p"});
  CHECK(fleet.done({"preflight"}).out == "6 moves of keyspace shop: nothing stands in the way\n");

  run_postgres(fleet.dsn("p"),
               "ALTER TABLE shop_3.invoice ADD CONSTRAINT once EXCLUDE USING btree (id WITH =)");
  run_postgres(fleet.dsn("p"), "BEGIN; SELECT 1; PREPARE TRANSACTION 'forgotten'");
  const Ran ran = fleet.run({"preflight", "--json"});
  CHECK(ran.exit_code == 1);
  const auto report = ran.json();
  CHECK(report["blocks"] == true);
  REQUIRE(report["findings"].size() == 2);
  CHECK(report["findings"][0]["object"] == "invoice.once");
  CHECK(report["findings"][0]["blocks"] == true);
  CHECK(report["findings"][1]["object"] == "prepared transaction 'forgotten'");
  CHECK(report["findings"][1]["blocks"] == false);
  CHECK(fleet.done({"plan", "--json"}).json()["preflight"].size() == 2);

  // Nothing begins, and no shard has moved.
  const Ran refused = fleet.run({"apply", "--yes"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("invoice.once") != std::string::npos);
  CHECK(fleet.done({"status", "--json"}).json()["moves"].empty());

  run_postgres(fleet.dsn("p"), "ROLLBACK PREPARED 'forgotten'");
  run_postgres(fleet.dsn("p"), "ALTER TABLE shop_3.invoice DROP CONSTRAINT once");
  fleet.done({"apply", "--yes"});
  CHECK(fleet.done({"verify", "--json"}).json()["shards"] == 6);
}
