#pragma once

#include <ringshard/config.hpp>
#include <string>
#include <vector>

#include "migrator/commands/context.hpp"
#include "migrator/report/moves_report.hpp"
#include "migrator/report/progress_view.hpp"
#include "mover/options.hpp"

namespace ringshard::cli {

/// Runs moves, `config.move.concurrency` at a time, each worker with connections of its own. One
/// that fails does not stop the others. The outcomes have the order of `moves`.
///
/// Asked to stop (Context::stop), moves that are being run stop between two steps, those that were
/// not begun are left as they are; both end with Error{cancelled}.
std::vector<MoveOutcome> run_moves(const Config& config, const std::vector<MoveRecord>& moves,
                                   const MoveOptions& options, Context& context,
                                   ProgressView& view);

}  // namespace ringshard::cli
