#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "catalog_fixture.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

TEST_CASE("a catalog that is not there is not found, and is not made by looking") {
  CatalogFixture fixture;
  CHECK(code_of([&] { fixture.open(); }) == ErrorCode::not_found);
  CHECK_FALSE(std::filesystem::exists(fixture.folder / "catalog.db"));
}

TEST_CASE("a database without the catalog's tables is not taken for a catalog") {
  CatalogFixture fixture;
  connect_catalog(fixture.dsn, fixture.clock, true)->run_script("CREATE TABLE other (a INTEGER)");
  std::string message;
  CHECK(code_of([&] { fixture.open(); }, &message) == ErrorCode::not_found);
  CHECK(message.find("ringshard init") != std::string::npos);
}

TEST_CASE("making a catalog again opens the one that is there") {
  CatalogFixture fixture;
  const std::string id = fixture.create().id();
  CHECK(id.size() == 32);
  CHECK(Catalog::create(fixture.dsn, fixture.clock).id() == id);
  CHECK(fixture.open().version("shop") == 1);
}

TEST_CASE("a catalog of an unknown newer format is refused and left as it is") {
  CatalogFixture fixture;
  fixture.create();
  const auto session = connect_catalog(fixture.dsn, fixture.clock, false);
  session->run_script("UPDATE ringshard_catalog SET format = 7; DROP TABLE ringshard_event");
  std::string message;
  CHECK(code_of([&] { fixture.open(); }, &message) == ErrorCode::refused);
  CHECK(message.find("format 7") != std::string::npos);
  CHECK(code_of([&] { Catalog::create(fixture.dsn, fixture.clock); }) == ErrorCode::refused);
  CHECK(code_of([&] { session->rows("SELECT * FROM ringshard_event"); }) == ErrorCode::sql);
}

TEST_CASE("a keyspace comes back from the catalog as it was stored") {
  CatalogFixture fixture;
  fixture.create();
  const KeyspaceDefinition expected = shop_definition(KeyspaceState::ready);
  const auto stored = fixture.open().keyspace("shop");
  REQUIRE(stored.has_value());
  CHECK(stored->key_type == expected.key_type);
  CHECK(stored->hash == expected.hash);
  CHECK(stored->shard_count == 8);
  CHECK(stored->state == KeyspaceState::ready);
  CHECK(stored->tables == expected.tables);
  CHECK(stored->schemas == expected.schemas);
  CHECK_FALSE(fixture.open().keyspace("other").has_value());
}

TEST_CASE("a topology comes back from the catalog as it was stored") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  const Topology topology = fixture.open().topology("shop");
  CHECK(topology.catalog_id() == catalog.id());
  CHECK(topology.nodes() == shop_nodes());
  CHECK(topology.placement() == shop_placement());
  CHECK(topology.key_spec().to_string() == "int64,text");
  CHECK(topology.version() == 1);
  CHECK(code_of([&] { catalog.topology("other"); }) == ErrorCode::not_found);
}

TEST_CASE("a keyspace is not made twice") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  CHECK(code_of([&] {
          catalog.create_keyspace(shop_definition(KeyspaceState::ready), shop_nodes(),
                                  shop_placement());
        }) == ErrorCode::already_exists);
}

TEST_CASE("routers are refused a keyspace that is empty or being imported") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create(KeyspaceState::empty);
  std::string message;
  CHECK(code_of([&] { catalog.topology("shop"); }, &message) == ErrorCode::refused);
  CHECK(message.find("ringshard import") != std::string::npos);
  catalog.set_keyspace_state("shop", KeyspaceState::importing);
  CHECK(code_of([&] { catalog.topology("shop"); }) == ErrorCode::refused);
  CHECK(catalog.topology("shop", true).shard_count() == 8);
  catalog.set_keyspace_state("shop", KeyspaceState::ready);
  CHECK(catalog.topology("shop").version() == 3);
}

TEST_CASE("of two setups of one keyspace only the one that began last can finish it") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create(KeyspaceState::empty);
  const std::string first = catalog.begin_setup("shop");
  const std::string second = catalog.begin_setup("shop");
  CHECK(catalog.keyspace("shop")->state == KeyspaceState::importing);
  const auto ready = shop_definition(KeyspaceState::ready);
  CHECK(code_of([&] { catalog.finish_setup(first, ready); }) == ErrorCode::lease_lost);
  CHECK(catalog.keyspace("shop")->state == KeyspaceState::importing);
  catalog.finish_setup(second, ready);
  CHECK(catalog.keyspace("shop")->state == KeyspaceState::ready);
  CHECK(code_of([&] { catalog.finish_setup(second, ready); }) == ErrorCode::lease_lost);
}

TEST_CASE("a keyspace that is ready is neither set up again nor dropped") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  CHECK(code_of([&] { catalog.begin_setup("shop"); }) == ErrorCode::refused);
  CHECK(code_of([&] { catalog.drop_keyspace("shop"); }) == ErrorCode::refused);
  CHECK(catalog.topology("shop").shard_count() == 8);
}

TEST_CASE("a keyspace that was never ready can be dropped and made again") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create(KeyspaceState::importing);
  catalog.drop_keyspace("shop");
  CHECK_FALSE(catalog.keyspace("shop").has_value());
  catalog.create_keyspace(shop_definition(KeyspaceState::ready), shop_nodes(), shop_placement());
  CHECK(catalog.topology("shop").nodes() == shop_nodes());
}

TEST_CASE("a schema for another kind of database joins, and is replaced by a newer one") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  const auto before = catalog.keyspace("shop")->schemas;
  REQUIRE(before.size() == 1);
  for (const char* statement : {"CREATE TABLE one", "CREATE TABLE other"}) {
    KeyspaceSchema added;
    added.home.statements = {statement};
    catalog.store_schema("shop", "postgres", added);
    CHECK(catalog.keyspace("shop")->schemas.at("postgres") == added);
    CHECK(catalog.keyspace("shop")->schemas.at("sqlite") == before.at("sqlite"));
  }
  CHECK(catalog.version("shop") == 1);
}

TEST_CASE("nodes that join keep the indexes of those that are there") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  auto nodes = shop_nodes();
  nodes[0].state = NodeState::draining;
  nodes.insert(nodes.begin(), make_node("c", "sqlite:/c", NodeState::active, 2));
  catalog.store_nodes("shop", nodes);
  const Topology topology = catalog.topology("shop");
  CHECK(topology.nodes()[0].name == "a");
  CHECK(topology.nodes()[0].state == NodeState::draining);
  CHECK(topology.nodes()[2].name == "c");
  CHECK(topology.nodes()[2].weight == 2);
  CHECK(topology.placement() == shop_placement());
  CHECK(topology.version() == 2);
  catalog.store_nodes("shop", nodes);
  CHECK(catalog.version("shop") == 2);
}

TEST_CASE("a node that still has shards is not removed") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  auto nodes = shop_nodes();
  nodes[1].state = NodeState::removed;
  std::string message;
  CHECK(code_of([&] { catalog.store_nodes("shop", nodes); }, &message) == ErrorCode::refused);
  CHECK(message.find("'b' still has 4 shards") != std::string::npos);
  CHECK(message.find("draining") != std::string::npos);
  CHECK(catalog.nodes("shop") == shop_nodes());
}

TEST_CASE("every change of a keyspace leaves an event, the newest first") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create(KeyspaceState::empty);
  fixture.clock.advance(5);
  catalog.set_keyspace_state("shop", KeyspaceState::ready);
  catalog.add_event({.at_ms = 0,
                     .keyspace = "shop",
                     .move_id = "m",
                     .what = "note",
                     .text = "by hand",
                     .version = 0});
  const auto events = catalog.events("shop", 10);
  REQUIRE(events.size() == 3);
  CHECK(events[0].text == "by hand");
  CHECK(events[0].version == 2);
  CHECK(events[1].text == "state ready");
  CHECK(events[1].at_ms == events[2].at_ms + 5);
  CHECK(events[2].version == 1);
  CHECK(catalog.events("shop", 1).size() == 1);
  CHECK(catalog.events("other", 10).empty());
}

TEST_CASE("writers of one catalog wait for one another and lose no change") {
  CatalogFixture fixture;
  fixture.create();
  constexpr int threads = 4;
  constexpr int changes = 20;
  std::vector<std::thread> writers;
  for (int i = 0; i < threads; ++i)
    writers.emplace_back([&fixture, i] {
      Catalog catalog = fixture.open();
      for (int change = 0; change < changes; ++change)
        catalog.store_nodes("shop",
                            {make_node("n" + std::to_string(i), "d" + std::to_string(change))});
    });
  for (auto& writer : writers) writer.join();
  Catalog catalog = fixture.open();
  CHECK(catalog.version("shop") == 1 + threads * changes);
  CHECK(catalog.nodes("shop").size() == 2 + threads);
  CHECK(catalog.events("shop", 1000).size() == 1 + threads * changes);
}
