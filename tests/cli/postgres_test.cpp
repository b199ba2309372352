// The whole way on PostgreSQL: init, an application's writes, a node that joins, apply, verify.

#include "support/postgres.hpp"

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ringshard/ringshard.hpp>
#include <sstream>

#include "cli/fleet.hpp"
#include "migrator/commands/commands.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

class PostgresFleet {
 public:
  PostgresFleet() {
    for (const char* name : {"catalog", "a", "b", "c"})
      databases_.emplace(name, std::make_unique<TestDatabase>(name));
    folder_.write(
        "schema.sql",
        "CREATE TYPE level AS ENUM ('new', 'old');\n"
        "CREATE TABLE customer (id bigint PRIMARY KEY, name text NOT NULL, level level);\n"
        "CREATE TABLE invoice (id bigserial PRIMARY KEY, customer_id bigint NOT NULL\n"
        "  REFERENCES customer (id) ON DELETE CASCADE, total numeric(12, 2));\n"
        "CREATE INDEX invoice_customer ON invoice (customer_id);\n"
        "CREATE TABLE genre (id bigint PRIMARY KEY, name text);\n"
        "CREATE VIEW named AS SELECT id, name FROM customer;\n");
  }

  void configure(const std::vector<std::string>& nodes) const {
    std::string text = "catalog: \"" + databases_.at("catalog")->dsn() +
                       "\"\nkeyspace:\n  name: shop\n  key: int64\n  shards: 6\n"
                       "  schema: schema.sql\n  tables:\n"
                       "    - {name: customer, key: id}\n"
                       "    - {name: invoice, parent: {table: customer, columns: {customer_id: "
                       "id}}}\n"
                       "    - {name: genre, reference: true}\nnodes:\n";
    for (const std::string& node : nodes)
      text += "  - {name: " + node + ", dsn: \"" + databases_.at(node)->dsn() + "\"}\n";
    folder_.write("ringshard.yaml", text + "move: {observe_for: 0s}\n");
  }

  std::string config() const { return (folder_ / "ringshard.yaml").string(); }

  Ran done(std::vector<std::string> words) const {
    words.insert(words.begin() + 1, {"--config", config()});
    std::ostringstream out;
    std::ostringstream err;
    cli::Context context{.out = out, .err = err, .clock = system_clock()};
    Ran ran;
    ran.exit_code = cli::run_program(words, context);
    ran.out = out.str();
    ran.err = err.str();
    INFO(words[0] << "\n" << ran.out << "\n" << ran.err);
    REQUIRE(ran.exit_code == 0);
    return ran;
  }

 private:
  TemporaryFolder folder_;
  std::map<std::string, std::unique_ptr<TestDatabase>> databases_;
};

}  // namespace

TEST_CASE("a PostgreSQL fleet is made, written to, and gets a third node") {
  if (postgres_server().empty()) {
    std::cout << "test skipped: there is no PostgreSQL server\n";
    return;
  }
  PostgresFleet fleet;
  fleet.configure({"a", "b"});
  fleet.done({"init"});
  {
    Cluster cluster = Cluster::open(load_config(fleet.config()));
    for (std::int64_t id = 1; id <= 60; ++id)
      cluster.transact(id, [&](Transaction& tx) {
        tx.execute("INSERT INTO customer VALUES ($1, $2, 'new')", id, "name " + std::to_string(id));
        tx.execute("INSERT INTO invoice (customer_id, total) VALUES ($1, 1.5)", id);
      });
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
