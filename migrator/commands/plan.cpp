#include <ostream>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/plan/plan_file.hpp"
#include "migrator/plan/planning.hpp"
#include "migrator/plan/preflight.hpp"
#include "migrator/report/plan_report.hpp"

namespace ringshard::cli {

int run(const PlanOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  const Plan plan = make_plan(fleet, options.planning, context.clock);
  const std::vector<PreflightFinding> findings =
      preflight(fleet, plan.moves, plan.nodes, context.clock);
  if (options.out) write_plan(plan, *options.out);
  if (options.common.json) {
    print_json(context.out, plan, options.out, findings);
  } else {
    print_text(context.out, plan, options.out);
    for (const PreflightFinding& finding : findings) context.out << describe(finding) << '\n';
  }
  return exit_done;
}

int run(const PreflightOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  const Plan plan = make_plan(fleet, options.planning, context.clock);
  const PreflightReport report{plan.keyspace, std::ssize(plan.moves),
                               preflight(fleet, plan.moves, plan.nodes, context.clock)};
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return any_blocks(report.findings) ? exit_failed : exit_done;
}

}  // namespace ringshard::cli
