#include "setup/setup.hpp"

#include <ostream>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/commands/view.hpp"
#include "migrator/report/setup_report.hpp"

namespace ringshard::cli {
int run(const InitOptions& options, Context& context) {
  const Config config = read_config(options.common);
  InitReport report;
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    report = init_fleet(config, context.clock, view);
  }
  if (options.common.json)
    print_json(context.out, report, config.keyspace);
  else
    print_text(context.out, report, config.keyspace);
  return exit_done;
}

int run(const ImportOptions& options, Context& context) {
  const Config config = read_config(options.common);
  ImportReport report;
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    report = import_database(config, options.from, context.clock, view);
  }
  if (options.common.json)
    print_json(context.out, report, config.keyspace);
  else
    print_text(context.out, report, config.keyspace);
  return exit_done;
}

}  // namespace ringshard::cli
