#pragma once

#include <cstddef>

namespace ringshard::testing {

// Every change of a list at every point of a list, in a small world each; or every `every`-th of
// these worlds.
void change_at_every_point(std::size_t every);
void change_at_every_tail_step(std::size_t every);

}  // namespace ringshard::testing
