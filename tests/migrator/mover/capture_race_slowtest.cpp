#include "migrator/mover/capture_race.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {

TEST_CASE("every change between a read at the source and its effect at the target arrives right") {
  change_at_every_point(1);
}

TEST_CASE("every change at every tail step arrives right") { change_at_every_tail_step(1); }

}  // namespace ringshard::testing
