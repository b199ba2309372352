#include <cstdlib>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/paths.hpp"

using namespace std::chrono_literals;
using ringshard::Config;
using ringshard::Error;
using ringshard::ErrorCode;
using ringshard::parse_config;
using ringshard::testing::TemporaryFolder;

namespace {

const std::string minimal = R"(catalog: sqlite:catalog.db
keyspace:
  name: shop
  key: int64
nodes:
  - {name: a, dsn: "sqlite:a"}
  - {name: b, dsn: "sqlite:b"}
)";

Config parse(const std::string& text) { return parse_config(text, "config.yaml", "/etc/shop"); }

// The text of the Error{config} that reading must end with; empty if it does not.
std::string mistakes(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::config);
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string with(const std::string& more) { return minimal + more; }

std::string with_tables(const std::string& tables) {
  return replaced(minimal, "  key: int64\n", "  key: int64\n  tables:\n" + tables);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Variable {
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a minimal file gives the documented defaults") {
  const Config config = parse(minimal);
  CHECK(config.keyspace.name == "shop");
  CHECK(config.keyspace.hash == "xxh3");
  CHECK(config.keyspace.shards == 1024);
  CHECK(config.keyspace.schema.empty());
  CHECK(config.nodes.size() == 2);
  CHECK(config.nodes[0].weight == 1.0);
  CHECK(config.nodes[0].state == "active");
  CHECK(config.router == ringshard::RouterConfig{});
  CHECK(config.move == ringshard::MoveConfig{});
  CHECK(config.move.observe_for == 24h);
  CHECK(config.move.cutover.pause_budget == 250ms);
  CHECK(config.sqlite == ringshard::SqliteConfig{});
}

TEST_CASE("every key of the file arrives in its field") {
  const Config config = parse(R"(catalog: postgres://shop@db/catalog
keyspace:
  name: shop_2
  key: int64,text
  hash: murmur3
  shards: 64
  schema: sql/schema.sql
  tables:
    - {name: customer, key: [tenant, email]}
    - name: invoice
      parent: {table: customer, columns: {t: tenant, e: email}}
    - {name: genre, reference: true}
nodes:
  - {name: a, dsn: "sqlite:a", weight: 2.5, zone: north}
  - {name: b, dsn: "sqlite:/data/b/", state: draining}
router:
  pool_size_max: 3
  pool_wait: 0s
  deadline: 1m
  poll_interval: 300ms
  mirror_timeout: 4s
  topology_cache: cache/topology
  scatter_parallelism: 2
move:
  observe_for: 0s
  cutover: {pause_budget: 100ms, lock_timeout: 20ms, attempts_max: 7, retry_delay: 1s}
  chunk_rows: 100
  chunk_bytes: 64KiB
  change_log_rows_max: 5000
  lease: 3s
  concurrency: 4
  repair: true
sqlite: {synchronous: normal, foreign_keys: false}
pins: {0: a, 63: b}
forbidden: {5: [b]}
)");
  CHECK(config.catalog == "postgres://shop@db/catalog");
  CHECK(config.keyspace.key == "int64,text");
  CHECK(config.keyspace.hash == "murmur3");
  CHECK(config.keyspace.shards == 64);
  CHECK(config.keyspace.schema_for("sqlite") == "/etc/shop/sql/schema.sql");
  CHECK(config.keyspace.schema_for("postgres") == "/etc/shop/sql/schema.sql");
  REQUIRE(config.keyspace.tables.size() == 3);
  CHECK(config.keyspace.tables[0].key == std::vector<std::string>{"tenant", "email"});
  REQUIRE(config.keyspace.tables[1].parent.has_value());
  CHECK(config.keyspace.tables[1].parent->table == "customer");
  CHECK(config.keyspace.tables[1].parent->columns ==
        std::vector<std::pair<std::string, std::string>>{{"t", "tenant"}, {"e", "email"}});
  CHECK(config.keyspace.tables[2].reference);
  CHECK(config.nodes[0] ==
        ringshard::NodeConfig{"a", "sqlite:/etc/shop/a", 2.5, "active", "north"});
  CHECK(config.nodes[1] == ringshard::NodeConfig{"b", "sqlite:/data/b", 1, "draining", ""});
  CHECK(config.router ==
        ringshard::RouterConfig{3, 0s, 1min, 300ms, 4s, "/etc/shop/cache/topology", 2});
  CHECK(config.move ==
        ringshard::MoveConfig{0s, {100ms, 20ms, 7, 1s}, 100, 64 * 1024, 5000, 3s, 4, true});
  CHECK(config.sqlite == ringshard::SqliteConfig{"normal", false});
  CHECK(config.pins == std::map<std::uint32_t, std::string>{{0, "a"}, {63, "b"}});
  CHECK(config.forbidden == std::map<std::uint32_t, std::vector<std::string>>{{5, {"b"}}});
}

TEST_CASE("each mistake is reported with its line and what to do") {
  struct Case {
    std::string text;
    std::string expected;
  };
  const std::vector<Case> cases = {
      {"", "config.yaml:1: the file has no value"},
      {"- a\n- b\n", "config.yaml:1: the file must have keys of its own"},
      {"catalog: [\n", "config.yaml:2: not valid YAML: "},
      {"a: 1\n---\nb: 2\n", "a second YAML document begins here"},
      {replaced(minimal, "catalog: sqlite:catalog.db\n", ""), "config.yaml:1: catalog is missing"},
      {replaced(minimal, "sqlite:catalog.db", "'sqlite:'"),
       "config.yaml:1: catalog \"sqlite:\" has no path"},
      {replaced(minimal, "sqlite:catalog.db", "'sqlite::memory:'"), "must be on disk"},
      {replaced(minimal, "catalog.db", "//host/c"), "has a host, which SQLite has not"},
      {replaced(minimal, "sqlite:catalog.db", "mysql://h/c"),
       "catalog \"mysql://h/c\" must start with sqlite: or postgres:"},
      {replaced(minimal, "  name: shop\n", ""), "config.yaml:3: keyspace.name is missing"},
      {replaced(minimal, "shop", "Shop"),
       "config.yaml:3: keyspace.name \"Shop\" must be lower-case"},
      {replaced(minimal, "int64", "int46"), "config.yaml:4: keyspace.key \"int46\" is refused: "},
      {replaced(minimal, "  key: int64\n", "  key: int64\n  hash: xxh33\n"),
       "config.yaml:5: keyspace.hash \"xxh33\" is no hash strategy (did you mean \"xxh3\"?)"},
      {replaced(minimal, "  key: int64\n", "  key: text\n  hash: modulo\n"),
       "config.yaml:5: keyspace.hash \"modulo\" needs keyspace.key int64, not text"},
      {replaced(minimal, "  key: int64\n", "  key: int64\n  shards: 0\n"),
       "config.yaml:5: keyspace.shards \"0\" must be a whole number from 1 to 1048576"},
      {replaced(minimal, "name: b", "name: a"),
       "config.yaml:7: nodes[1].name \"a\" is there twice"},
      {replaced(minimal, "sqlite:b", "sqlite:./x/../a/"),
       "config.yaml:7: nodes[1].dsn is the same database as that of node \"a\""},
      {replaced(minimal, "name: b", "name: b/c"), "nodes[1].name \"b/c\" must be letters"},
      {replaced(minimal, "name: b", "name: b, weight: 0"),
       "config.yaml:7: nodes[1].weight \"0\" must be a number above 0"},
      {replaced(minimal, "name: b", "name: b, weight: nan"), "must be a number above 0"},
      {replaced(minimal, "name: b", "name: b, state: draning"),
       "nodes[1].state \"draning\" is not a choice (did you mean \"draining\"?)"},
      {replaced(replaced(minimal, "name: a", "name: a, state: draining"), "name: b",
                "name: b, state: draining"),
       "nodes needs one at least that is active"},
      {with("router: {pool_size: 3}\n"),
       "config.yaml:8: unknown key \"router.pool_size\" (did you mean \"pool_size_max\"?)"},
      {with("router: {colour: red}\n"), "unknown key \"router.colour\" (known: pool_size_max, "},
      {with("routers: {}\n"), "unknown key \"routers\" (did you mean \"router\"?)"},
      {with("router:\n"), "config.yaml:8: router has no value"},
      {with("router: 5\n"), "config.yaml:8: router must have keys of its own"},
      {with("router: {deadline: 10}\n"),
       "router.deadline \"10\" must end in a unit (ms, s, m, h or d)"},
      {with("router: {deadline: soon}\n"), "must be a whole number with a unit"},
      {with("router: {deadline: -1s}\n"), "must be a whole number with a unit"},
      {with("router: {deadline: 99999999d}\n"), "is longer than 100 years"},
      {with("router: {deadline: 99999999999999999999s}\n"), "is too large"},
      {with("router: {deadline: 0s}\n"), "must be longer than nothing"},
      {with("router: {deadline: [1s]}\n"), "router.deadline must be a single value"},
      {with("move:\n  chunk_bytes: 8MB\n"),
       "config.yaml:9: move.chunk_bytes \"8MB\" must end in a unit (B, KiB, MiB or GiB)"},
      {with("move: {repair: yes}\n"), "move.repair \"yes\" must be true or false"},
      {with("move:\n  cutover:\n    lock_timeout: 300ms\n"),
       "config.yaml:10: move.cutover.lock_timeout must not be longer than pause_budget, 250ms"},
      {with("move: {lease: 1s, lease: 2s}\n"), "config.yaml:8: move.lease is there twice"},
      {with("pins: {1024: a}\n"),
       "config.yaml:8: pins.1024: a shard must be a whole number from 0 to 1023"},
      {with("pins: {1: c}\n"), "pins.1 \"c\" is no node of this file"},
      {with("pins: {1: a, 1: b}\n"), "pins.1 is there twice"},
      {with("pins: {1: a}\nforbidden: {1: [a]}\n"),
       "config.yaml:8: pins.1 pins to \"a\", which is forbidden for it"},
      {with("forbidden: {1: [a, b]}\n"), "forbidden.1 leaves no node for the shard"},
      {with("sqlite: {synchronous: off}\n"), "sqlite.synchronous \"off\" is not a choice"},
      {with_tables("    - {name: t}\n"),
       "config.yaml:6: keyspace.tables[0] needs exactly one of key, parent and reference: true"},
      {with_tables("    - {name: t, key: k, reference: true}\n"), "needs exactly one of"},
      {with_tables("    - {name: t, key: [k, l]}\n"),
       "keyspace.tables[0].key names 2 columns, but keyspace.key has 1 parts"},
      {with_tables("    - {name: t, key: k}\n    - {name: t, key: k}\n"),
       "config.yaml:7: keyspace.tables[1].name \"t\" is there twice"},
      {with_tables(
           "    - {name: t, key: k}\n    - {name: u, parent: {table: tt, columns: {a: b}}}\n"),
       "config.yaml:7: keyspace.tables[1].parent.table \"tt\" is no table of this keyspace (did "
       "you "
       "mean \"t\"?)"},
      {with_tables("    - {name: t, reference: true}\n"
                   "    - {name: u, parent: {table: t, columns: {a: b}}}\n"),
       "is a reference table, which has no key"},
      {with_tables("    - {name: t, parent: {table: u, columns: {a: b}}}\n"
                   "    - {name: u, parent: {table: t, columns: {a: b}}}\n"),
       "leads in a circle"},
      {with_tables("    - {name: t, parent: {table: t, columns: {}}}\n"),
       "keyspace.tables[0].parent.columns is empty"},
      {with("sqlite: {<<: &x {foreign_keys: true}}\n"), "unknown key \"sqlite.<<\""},
      {"&x [*x]\n", "config.yaml:1: "},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.text);
    const std::string text = mistakes(wrong.text);
    INFO(text);
    INFO("expected: " << wrong.expected);
    CHECK(contains(text, wrong.expected));
  }
}

TEST_CASE("all mistakes of a file are reported at once and in the order of their lines") {
  CHECK(mistakes("keyspace: {name: shop, key: int64, shards: many}\n"
                 "nodes:\n"
                 "  - {name: a}\n"
                 "move: {leese: 1s}\n") ==
        "config.yaml:1: catalog is missing\n"
        "config.yaml:1: keyspace.shards \"many\" must be a whole number from 1 to 1048576\n"
        "config.yaml:3: nodes[0].dsn is missing\n"
        "config.yaml:4: unknown key \"move.leese\" (did you mean \"lease\"?)");
}

TEST_CASE("environment variables are put into values and not into keys") {
  const Variable password("RINGSHARD_TEST_PASSWORD", "s3cret");
  const Variable empty("RINGSHARD_TEST_EMPTY", "");
  const auto zone = [](const std::string& value) {
    return parse(replaced(minimal, "name: b", "name: b, zone: '" + value + "'")).nodes[1].zone;
  };
  CHECK(zone("x${RINGSHARD_TEST_PASSWORD}y") == "xs3crety");
  CHECK(zone("${RINGSHARD_TEST_MISSING:-some where}") == "some where");
  CHECK(zone("${RINGSHARD_TEST_EMPTY:-default}") == "default");
  CHECK(zone("a${RINGSHARD_TEST_EMPTY}") == "a");
  CHECK(zone("$$5 and $${HOME}") == "$5 and ${HOME}");
  const Variable count("RINGSHARD_TEST_COUNT", "12");
  CHECK(
      parse(with("router: {pool_size_max: \"${RINGSHARD_TEST_COUNT}\"}\n")).router.pool_size_max ==
      12);
}

TEST_CASE("an environment variable that can not be put in is a mistake") {
  const auto zone = [](const std::string& value) {
    return mistakes(replaced(minimal, "name: b", "name: b, zone: '" + value + "'"));
  };
  CHECK(contains(zone("${RINGSHARD_TEST_MISSING}"),
                 "config.yaml:7: nodes[1].zone \"${RINGSHARD_TEST_MISSING}\" needs the environment "
                 "variable RINGSHARD_TEST_MISSING, which is not set"));
  CHECK(contains(zone("${open"), "has a ${ without a }"));
  CHECK(contains(zone("cost $5"), "write $$ for the character itself"));
  CHECK(contains(zone("${1x}"), "names no environment variable"));
  CHECK(contains(zone("${}"), "names no environment variable"));
}

TEST_CASE("a mistake shows neither a password nor the value of a variable") {
  const Variable password("RINGSHARD_TEST_PASSWORD", "s3cret");
  for (const char* dsn : {"pg://u:s3cret@h/d", "pg://u:${RINGSHARD_TEST_PASSWORD}@h/d",
                          "host=h password=s3cret", "${RINGSHARD_TEST_PASSWORD}"}) {
    const std::string text = mistakes(replaced(minimal, "sqlite:b", dsn));
    INFO(text);
    CHECK(contains(text, "nodes[1].dsn"));
    CHECK_FALSE(contains(text, "s3cret"));
  }
}

TEST_CASE("a file is read with paths relative to its own folder") {
  const TemporaryFolder folder;
  const auto path = folder.write("deep/config.yaml", minimal);
  const Config config = ringshard::load_config(path);
  CHECK(config.catalog == "sqlite:" + (folder / "deep/catalog.db").string());
  CHECK(config.nodes[1].dsn == "sqlite:" + (folder / "deep/b").string());
}

TEST_CASE("a file that is not there is not found, and its name is told") {
  const TemporaryFolder folder;
  for (const auto& path : {folder / "none.yaml", folder.path()}) {
    try {
      ringshard::load_config(path);
      FAIL("it was read");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::not_found);
      CHECK(contains(error.what(), path.string()));
    }
  }
}
