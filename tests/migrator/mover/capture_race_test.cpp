#include "migrator/mover/capture_race.hpp"

#include "support/catch.hpp"

// A part of the worlds, for the builds in which each takes long. All of them:
// capture_race_slowtest.

namespace ringshard::testing {
namespace {

constexpr std::size_t every = 11;  // shares no factor with how the worlds are ordered

}  // namespace

TEST_CASE("a change between a read at the source and its effect at the target arrives right") {
  change_at_every_point(every);
}

TEST_CASE("a change at a tail step arrives right") { change_at_every_tail_step(every); }

}  // namespace ringshard::testing
