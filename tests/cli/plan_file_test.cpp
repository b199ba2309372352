#include "migrator/plan/plan_file.hpp"

#include <ringshard/error.hpp>
#include <string>

#include "cli/fleet.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::cli;
using ringshard::testing::CommandFleet;
using ringshard::testing::contents_of;
using ringshard::testing::Ran;

namespace {

Plan example() {
  Plan plan;
  plan.id = "0123456789ab";
  plan.keyspace = "shop";
  plan.catalog_id = "feed";
  plan.version = 7;
  plan.created_ms = 1'700'000'000'000;
  plan.by = BalanceBy::bytes;
  plan.nodes = {{.name = "a", .dsn = "sqlite:/a", .weight = 1.5},
                {.name = "b", .dsn = "sqlite:/b", .state = NodeState::draining, .zone = "west"}};
  plan.moves = {
      {.id = "m1", .shard = ShardId{3}, .source = "a", .target = "b", .rows = 10, .bytes = 4096}};
  plan.share_moved = 0.25;
  plan.least_share = 0.125;
  plan.balance_before = 1.5;
  plan.balance_after = 1.0625;
  plan.moves_left_out = 2;
  plan.floor_shard = ShardId{9};
  plan.balance_floor = 1.25;
  plan.rows_counted = false;
  plan.shards_in_moves = 1;
  plan.changes = {"node 'b' joins"};
  return plan;
}

ErrorCode code_of(const std::string& text) {
  try {
    static_cast<void>(parse_plan(text));
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a plan that was written is read back the same") {
  const Plan plan = example();
  CHECK(parse_plan(serialize(plan)) == plan);
  Plan empty;
  CHECK(parse_plan(serialize(empty)) == empty);
}

TEST_CASE("a plan file holds no password") {
  Plan plan = example();
  plan.nodes[0].dsn = "postgres://shop:secret@db.example.org/shop";
  CHECK(serialize(plan).find("secret") == std::string::npos);
}

TEST_CASE("a plan that was altered or cut off is not read") {
  const std::string text = serialize(example());
  CHECK(code_of(replaced(text, "\"shard\": 3", "\"shard\": 4")) == ErrorCode::corrupt);
  CHECK(code_of(replaced(text, "\"version\": 7", "\"version\": 8")) == ErrorCode::corrupt);
  CHECK(code_of(replaced(text, "\"checksum\"", "\"checksun\"")) == ErrorCode::corrupt);
  CHECK(code_of(text.substr(0, text.size() / 2)) == ErrorCode::corrupt);
  CHECK(code_of("") == ErrorCode::corrupt);
  CHECK(code_of("[]") == ErrorCode::corrupt);
  CHECK(code_of("{\"kind\": \"something else\"}") == ErrorCode::corrupt);
  CHECK(code_of(replaced(text, "\"format\": 1", "\"format\": 2")) == ErrorCode::refused);
}

TEST_CASE("a plan that contradicts itself is not read") {
  Plan to_itself = example();
  to_itself.moves[0].target = "a";
  CHECK(code_of(serialize(to_itself)) == ErrorCode::corrupt);
  Plan unknown = example();
  unknown.moves[0].target = "z";
  CHECK(code_of(serialize(unknown)) == ErrorCode::corrupt);
  Plan twice = example();
  twice.moves.push_back(twice.moves[0]);
  CHECK(code_of(serialize(twice)) == ErrorCode::corrupt);
}

TEST_CASE("a plan with a move of a shard to its own node changes nothing") {
  CommandFleet fleet;
  fleet.configure({"a", "b", "c"});
  const auto file = fleet.folder() / "plan.json";
  fleet.done("plan --out " + file.string());
  Plan plan = read_plan(file);
  REQUIRE_FALSE(plan.moves.empty());
  plan.moves[0].target = plan.moves[0].source;
  write_plan(plan, file);
  const auto before = contents_of(fleet.folder().path());
  const Ran ran = fleet.run("apply --json --plan " + file.string());
  CHECK(ran.exit_code == 1);
  CHECK(ran.json()["error"]["message"].get<std::string>().find("to itself") != std::string::npos);
  CHECK(contents_of(fleet.folder().path()) == before);
}

TEST_CASE("a plan of another catalog is refused") {
  CommandFleet here;
  CommandFleet there;
  here.configure({"a", "b", "c"});
  there.configure({"a", "b", "c"});
  const auto file = here.folder() / "plan.json";
  here.done("plan --out " + file.string());
  const auto before = contents_of(there.folder().path());
  const Ran ran = there.run("apply --json --plan " + file.string());
  CHECK(ran.exit_code == 1);
  CHECK(ran.json()["error"]["code"] == "stale_plan");
  CHECK(contents_of(there.folder().path()) == before);
}

TEST_CASE("a plan is refused when the configuration changed since it was made") {
  CommandFleet fleet;
  fleet.configure({"a", "b", "c"});
  const auto file = fleet.folder() / "plan.json";
  fleet.done("plan --out " + file.string());
  fleet.configure({"a", "b", "c", "d"});
  const auto before = contents_of(fleet.folder().path());
  const Ran ran = fleet.run("apply --json --plan " + file.string());
  CHECK(ran.exit_code == 1);
  CHECK(ran.json()["error"]["code"] == "stale_plan");
  CHECK(contents_of(fleet.folder().path()) == before);
}
