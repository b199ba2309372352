#include "catalog_fixture.hpp"

#include <stdexcept>

namespace ringshard::testing {

Catalog CatalogFixture::create(KeyspaceState state) {
  Catalog catalog = Catalog::create(dsn, clock);
  catalog.create_keyspace(shop_definition(state), shop_nodes(), shop_placement());
  return catalog;
}

KeyspaceDefinition shop_definition(KeyspaceState state) {
  Table customer;
  customer.name = "Customer";
  customer.columns = {"Name", "CustomerId", "Region"};
  customer.key = {"CustomerId", "Region"};
  customer.key_positions = {1, 2};
  customer.key_collations = {"", "NOCASE"};
  customer.unique_keys = {{"Name"}, {"Region", "Name"}};
  Table genre;
  genre.name = "genre \"of\" tracks";
  genre.columns = {"id"};
  genre.key = {"id"};
  genre.key_positions = {0};
  genre.key_collations = {""};
  KeyspaceDefinition definition;
  definition.name = "shop";
  definition.key_type = "int64,text";
  definition.hash = HashStrategy::xxh3;
  definition.shard_count = 8;
  definition.state = state;
  definition.tables = {{.name = "Customer",
                        .reference = false,
                        .key = {"CustomerId", "Region"},
                        .parent = "",
                        .parent_columns = {}},
                       {.name = "Invoice",
                        .reference = false,
                        .key = {},
                        .parent = "Customer",
                        .parent_columns = {{"Customer", "CustomerId"}, {"Area", "Region"}}},
                       {.name = "genre \"of\" tracks",
                        .reference = true,
                        .key = {},
                        .parent = "",
                        .parent_columns = {}}};
  definition.schemas["sqlite"].home.tables = {customer};
  definition.schemas["sqlite"].home.statements = {"CREATE TABLE first", "CREATE INDEX second"};
  definition.schemas["sqlite"].reference.tables = {genre};
  definition.schemas["sqlite"].reference.statements = {"CREATE TABLE third"};
  return definition;
}

std::vector<NodeInfo> shop_nodes() {
  return {
      {.name = "a", .dsn = "sqlite:/a", .weight = 1, .state = NodeState::active, .zone = "east"},
      {.name = "b", .dsn = "sqlite:/b", .weight = 1.5, .state = NodeState::active, .zone = ""}};
}

NodeInfo make_node(const std::string& name, const std::string& dsn, NodeState state,
                   double weight) {
  return {.name = name, .dsn = dsn, .weight = weight, .state = state, .zone = ""};
}

std::vector<std::uint16_t> shop_placement() { return {0, 1, 0, 1, 0, 1, 0, 1}; }

MoveRecord shop_move(const std::string& id, std::uint32_t shard) {
  MoveRecord move;
  move.id = id;
  move.keyspace = "shop";
  move.shard = ShardId{shard};
  move.source = shard % 2 == 0 ? "a" : "b";
  move.target = shard % 2 == 0 ? "b" : "a";
  move.rows_estimated = 100;
  return move;
}

MoveRecord start_move(Catalog& catalog, const std::string& id, std::uint32_t shard) {
  catalog.start_plan("shop", "plan", catalog.version("shop"), {}, {shop_move(id, shard)});
  if (!catalog.take_lease(id, "mover", Duration(10'000)))
    throw std::runtime_error("the lease of " + id + " was not free");
  return catalog.move(id).value();
}

void go_through(Catalog& catalog, MoveRecord& move, const std::vector<MoveStage>& stages) {
  for (const MoveStage stage : stages) {
    const MoveStage expected = move.stage;
    move.stage = stage;
    catalog.store_stage(move, expected, "mover");
  }
}

}  // namespace ringshard::testing
