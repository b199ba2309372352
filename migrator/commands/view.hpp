#pragma once

#include "migrator/cli.hpp"
#include "migrator/commands/context.hpp"
#include "migrator/report/progress_view.hpp"

namespace ringshard::cli {

/// How a command of these options shows its progress in this context.
inline ProgressStyle progress_style(const CommonOptions& options, const Context& context) {
  return {.terminal = context.terminal,
          .color = context.color,
          .quiet = options.quiet,
          .columns = context.columns};
}

}  // namespace ringshard::cli
