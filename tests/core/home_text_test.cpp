#include "core/home_text.hpp"

#include "support/catch.hpp"

using namespace ringshard;

TEST_CASE("a home record is described by role, peer, leg and move") {
  HomeRecord record;
  CHECK(describe(record) == "owner at rest");
  record.leg = 1;
  record.peer = "b";
  record.move_id = "m1";
  CHECK(describe(record) == "owner, mirrored at b, leg 1, move m1");
  record.role = Role::mirror;
  CHECK(describe(record) == "mirror of b, leg 1, move m1");
  record.peer.clear();
  CHECK(describe(record) == "mirror, leg 1, move m1");
}
