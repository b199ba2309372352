#include "core/move_stage.hpp"

#include <string>

#include "support/catch.hpp"

using namespace ringshard;

TEST_CASE("a wish that means something in a stage is a way out of it, and no other") {
  for (const MoveStage stage : all_move_stages) {
    for (const MoveWish wish : all_move_wishes) {
      INFO(to_string(stage) << ", " << to_string(wish));
      const std::string command = "`ringshard " + std::string(command_of(wish)) + "`";
      CHECK((way_out(stage).find(command) != std::string::npos) == can_be_wished(wish, stage));
    }
  }
}

TEST_CASE("nothing can be wished of a move that is over, and going on of every other") {
  for (const MoveStage stage : all_move_stages) {
    INFO(to_string(stage));
    for (const MoveWish wish : all_move_wishes)
      if (is_final(stage)) CHECK_FALSE(can_be_wished(wish, stage));
    CHECK(can_be_wished(MoveWish::none, stage) == !is_final(stage));
    CHECK(can_be_wished(MoveWish::pause, stage) == !is_final(stage));
  }
}

TEST_CASE("a move can be aborted before its cutover and taken back after it, never both") {
  for (const MoveStage stage : all_move_stages) {
    INFO(to_string(stage));
    const bool abort = can_be_wished(MoveWish::abort, stage);
    const bool roll_back = can_be_wished(MoveWish::roll_back, stage);
    CHECK_FALSE((abort && roll_back));
    if (can_abort(stage)) CHECK(abort);
    if (can_roll_back(stage)) CHECK(roll_back);
  }
}

TEST_CASE("stages and wishes are found by the names that they are stored by") {
  for (const MoveStage stage : all_move_stages) CHECK(parse_move_stage(to_string(stage)) == stage);
  for (const MoveWish wish : all_move_wishes) CHECK(parse_move_wish(to_string(wish)) == wish);
  CHECK_FALSE(parse_move_wish("rollback"));
}
