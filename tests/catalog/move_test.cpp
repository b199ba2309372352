#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "catalog_fixture.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

TEST_CASE("a plan stores its moves in order, planned and held by nobody") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  catalog.start_plan("shop", "p", 1, {}, {shop_move("z", 2), shop_move("y", 1)});
  const auto moves = catalog.moves("shop", true);
  REQUIRE(moves.size() == 2);
  CHECK(moves[0].id == "z");
  CHECK(moves[1].id == "y");
  CHECK(moves[0].plan_id == "p");
  CHECK(moves[0].stage == MoveStage::planned);
  CHECK(moves[0].rows_estimated == 100);
  CHECK(moves[0].created_ms == fixture.clock.unix_ms());
  CHECK(moves[0].lease_holder.empty());
  CHECK(catalog.unfinished_move_of("shop", ShardId{1})->id == "y");
  CHECK_FALSE(catalog.unfinished_move_of("shop", ShardId{0}).has_value());
  CHECK_FALSE(catalog.move("x").has_value());
}

TEST_CASE("a plan that was made before a change is refused, and stores nothing") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  const std::uint64_t version = catalog.version("shop");
  catalog.store_nodes("shop", {make_node("c", "sqlite:/c")});
  CHECK(code_of([&] {
          catalog.start_plan("shop", "p", version, {make_node("d", "sqlite:/d")}, {shop_move()});
        }) == ErrorCode::stale_plan);
  CHECK(catalog.moves("shop", false).empty());
  CHECK(catalog.nodes("shop").size() == 3);
}

TEST_CASE("a plan whose shards are elsewhere is refused") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = shop_move("m", 1);
  move.source = "a";
  move.target = "b";
  CHECK(code_of([&] { catalog.start_plan("shop", "p", 1, {}, {move}); }) == ErrorCode::stale_plan);
}

TEST_CASE("a shard in an unfinished move gets no second one") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  std::string message;
  CHECK(
      code_of(
          [&] { catalog.start_plan("shop", "p", catalog.version("shop"), {}, {shop_move("m2")}); },
          &message) == ErrorCode::refused);
  CHECK(message.find("shard 0 is in move m1") != std::string::npos);
  CHECK(code_of([&] {
          catalog.start_plan("shop", "p", catalog.version("shop"), {},
                             {shop_move("m2", 2), shop_move("m3", 2)});
        }) == ErrorCode::refused);
  CHECK(catalog.moves("shop", false).size() == 1);
  go_through(catalog, move, {MoveStage::reverting, MoveStage::reverted});
  catalog.start_plan("shop", "p", catalog.version("shop"), {}, {shop_move("m2")});
  CHECK(catalog.moves("shop", true).size() == 1);
  CHECK(catalog.moves("shop", false).size() == 2);
}

TEST_CASE("a move to the own, an unknown or a removed node is refused") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = shop_move();
  move.target = "a";
  CHECK(code_of([&] { catalog.start_plan("shop", "p", 1, {}, {move}); }) == ErrorCode::refused);
  move.target = "nowhere";
  CHECK(code_of([&] { catalog.start_plan("shop", "p", 1, {}, {move}); }) == ErrorCode::not_found);
  move.target = "c";
  const NodeInfo removed = make_node("c", "d", NodeState::removed);
  CHECK(code_of([&] { catalog.start_plan("shop", "p", 1, {removed}, {move}); }) ==
        ErrorCode::refused);
  CHECK(code_of([&] { catalog.start_plan("shop", "p", 1, {}, {shop_move("m", 8)}); }) ==
        ErrorCode::not_found);
  CHECK(catalog.version("shop") == 1);
}

TEST_CASE("a stage is stored only from the one that is expected") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  MoveRecord old = move;
  go_through(catalog, move, {MoveStage::mirroring});
  old.stage = MoveStage::reverting;
  CHECK(code_of([&] { catalog.store_stage(old, MoveStage::planned, "mover"); }) ==
        ErrorCode::lease_lost);
  CHECK(catalog.move("m1")->stage == MoveStage::mirroring);
}

TEST_CASE("a stage that can not follow is never stored") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  for (const MoveStage stage : all_move_stages) {
    if (can_follow(MoveStage::planned, stage)) continue;
    move.stage = stage;
    CHECK(code_of([&] { catalog.store_stage(move, MoveStage::planned, "mover"); }) ==
          ErrorCode::internal);
  }
  CHECK(catalog.move("m1")->stage == MoveStage::planned);
}

TEST_CASE("a stage and the shard's placement change together, and the version tells routers") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  go_through(
      catalog, move,
      {MoveStage::mirroring, MoveStage::backfilling, MoveStage::verifying, MoveStage::ready});
  const std::uint64_t version = catalog.version("shop");
  move.stage = MoveStage::cut_over;
  CHECK(code_of([&] { catalog.store_stage(move, MoveStage::ready, "mover", "nowhere"); }) ==
        ErrorCode::not_found);
  CHECK(catalog.move("m1")->stage == MoveStage::ready);
  move.pause_us = 1234;
  catalog.store_stage(move, MoveStage::ready, "mover", "b");
  CHECK(catalog.version("shop") == version + 1);
  CHECK(catalog.topology("shop").placement() == std::vector<std::uint16_t>{1, 1, 0, 1, 0, 1, 0, 1});
  CHECK(catalog.move("m1")->pause_us == 1234);
  const Event event = catalog.events("shop", 1).at(0);
  CHECK(event.what == "stage");
  CHECK(event.move_id == "m1");
  CHECK(event.text.find("ready -> cut_over") != std::string::npos);
  CHECK(event.version == version + 1);
}

TEST_CASE("a node in an unfinished move is not removed") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = shop_move();
  move.target = "c";
  catalog.start_plan("shop", "p", 1, {make_node("c", "d")}, {move});
  const NodeInfo removed = make_node("c", "d", NodeState::removed);
  CHECK(code_of([&] { catalog.store_nodes("shop", {removed}); }) == ErrorCode::refused);
}

TEST_CASE("progress is stored without touching stage, wish or lease") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  catalog.wish("m1", MoveWish::pause);
  move.stage = MoveStage::done;
  move.rows_copied = 77;
  move.differences_found = true;
  move.error = "node b is away";
  catalog.store_progress(move, "mover");
  const MoveRecord stored = catalog.move("m1").value();
  CHECK(stored.stage == MoveStage::planned);
  CHECK(stored.wish == MoveWish::pause);
  CHECK(stored.lease_holder == "mover");
  CHECK(stored.rows_copied == 77);
  CHECK(stored.differences_found);
  CHECK(stored.error == "node b is away");
  CHECK(code_of([&] { catalog.store_progress(move, "other"); }) == ErrorCode::lease_lost);
}

TEST_CASE("a mover that lost its lease can store nothing more") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  fixture.clock.advance(10'000);
  move.stage = MoveStage::mirroring;
  CHECK(code_of([&] { catalog.store_stage(move, MoveStage::planned, "mover"); }) ==
        ErrorCode::lease_lost);
  CHECK(code_of([&] { catalog.store_progress(move, "mover"); }) == ErrorCode::lease_lost);
  Catalog other = fixture.open();
  CHECK(other.take_lease("m1", "other", Duration(10'000)));
  CHECK(code_of([&] { catalog.store_stage(move, MoveStage::planned, "mover"); }) ==
        ErrorCode::lease_lost);
  CHECK_FALSE(catalog.take_lease("m1", "mover", Duration(10'000)));
  other.store_stage(move, MoveStage::planned, "other");
  CHECK(catalog.move("m1")->stage == MoveStage::mirroring);
}

TEST_CASE("the next lease is of the first move that nobody runs and that is not over") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  start_move(catalog);
  const std::vector<std::string> ids{"m1"};
  CHECK_FALSE(catalog.lease_next(ids, "other", Duration(10'000)).has_value());
  fixture.clock.advance(10'000);
  CHECK_FALSE(catalog.lease_next({}, "other", Duration(10'000)).has_value());
  CHECK(catalog.lease_next(ids, "other", Duration(10'000)) == "m1");
  CHECK(catalog.move("m1")->lease_holder == "other");
  CHECK_FALSE(catalog.lease_next(ids, "third", Duration(10'000)).has_value());
}

TEST_CASE("a lease is renewed by its holder, kept from others, and free once it is given back") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  start_move(catalog);
  fixture.clock.advance(9'999);
  CHECK_FALSE(catalog.take_lease("m1", "other", Duration(10'000)));
  CHECK(catalog.take_lease("m1", "mover", Duration(10'000)));
  fixture.clock.advance(9'999);
  CHECK_FALSE(catalog.take_lease("m1", "other", Duration(10'000)));
  catalog.release_lease("m1", "other");
  CHECK_FALSE(catalog.take_lease("m1", "other", Duration(10'000)));
  catalog.release_lease("m1", "mover");
  CHECK(catalog.take_lease("m1", "other", Duration(10'000)));
  CHECK(code_of([&] { catalog.take_lease("unknown", "other", Duration(1)); }) ==
        ErrorCode::not_found);
}

TEST_CASE("of several movers that want one lease at once exactly one gets it") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  for (std::uint32_t round = 0; round < 5; ++round) {
    const std::string id = "m" + std::to_string(round);
    catalog.start_plan("shop", "p", catalog.version("shop"), {}, {shop_move(id, round)});
    std::atomic<int> winners{0};
    std::vector<std::thread> movers;
    for (int i = 0; i < 4; ++i)
      movers.emplace_back([&, i] {
        Catalog own = fixture.open();
        if (own.take_lease(id, "mover " + std::to_string(i), Duration(10'000))) ++winners;
      });
    for (auto& mover : movers) mover.join();
    CHECK(winners == 1);
  }
}

TEST_CASE("a wish is granted only in a stage that allows it, and a refusal says what can be done") {
  CatalogFixture fixture;
  Catalog catalog = fixture.create();
  MoveRecord move = start_move(catalog);
  std::string message;
  CHECK(code_of([&] { catalog.wish("m1", MoveWish::roll_back); }, &message) == ErrorCode::refused);
  CHECK(message.find("stage planned") != std::string::npos);
  CHECK(message.find("ringshard abort") != std::string::npos);
  CHECK(message.find("ringshard rollback`") == std::string::npos);
  CHECK(code_of([&] { catalog.wish("m1", MoveWish::finalize); }) == ErrorCode::refused);
  catalog.wish("m1", MoveWish::pause);
  CHECK(catalog.wish_of("m1") == MoveWish::pause);
  catalog.wish("m1", MoveWish::none);
  go_through(catalog, move,
             {MoveStage::mirroring, MoveStage::backfilling, MoveStage::verifying, MoveStage::ready,
              MoveStage::cut_over, MoveStage::observing});
  CHECK(code_of([&] { catalog.wish("m1", MoveWish::abort); }, &message) == ErrorCode::refused);
  CHECK(message.find("ringshard rollback") != std::string::npos);
  catalog.wish("m1", MoveWish::roll_back);
  catalog.wish("m1", MoveWish::finalize);
  go_through(catalog, move, {MoveStage::cleaning});
  catalog.wish("m1", MoveWish::finalize);
  CHECK(code_of([&] { catalog.wish("m1", MoveWish::roll_back); }) == ErrorCode::refused);
  go_through(catalog, move, {MoveStage::done});
  CHECK(code_of([&] { catalog.wish("m1", MoveWish::pause); }, &message) == ErrorCode::refused);
  CHECK(message.find("over") != std::string::npos);
  CHECK(code_of([&] { catalog.wish("unknown", MoveWish::pause); }) == ErrorCode::not_found);
}
