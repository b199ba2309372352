#pragma once

#include <functional>

#include "mover/home_pair.hpp"
#include "mover/options.hpp"

namespace ringshard {

/// Notices that the owner's database went on from an older state than the mirror has seen since
/// this was last asked: a replica took over, or it was restored. Changes get numbers from then on
/// that the mirror has not seen; then `compare_anew` is called, which has to store that nothing
/// that was compared before counts. Only after that is the new state taken for known (it is kept at
/// the mirror), so that a crash in between leaves this to be noticed again.
void heed_failover(HomePair& pair, const MoveOptions& options,
                   const std::function<void()>& compare_anew);

}  // namespace ringshard
