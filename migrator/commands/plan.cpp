#include <ostream>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/plan/plan_file.hpp"
#include "migrator/plan/planning.hpp"
#include "migrator/report/plan_report.hpp"

namespace ringshard::cli {

int run(const PlanOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  const Plan plan = make_plan(fleet, options.planning, context.clock);
  if (options.out) write_plan(plan, *options.out);
  if (options.common.json)
    print_json(context.out, plan, options.out);
  else
    print_text(context.out, plan, options.out);
  return exit_done;
}

}  // namespace ringshard::cli
