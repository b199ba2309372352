#pragma once

#include <string>

#include "core/home.hpp"

namespace ringshard {

/// For people: "owner at rest", "owner, mirrored at b, leg 1, move m", "mirror of a, leg 1, move
/// m".
std::string describe(const HomeRecord& record);

}  // namespace ringshard
