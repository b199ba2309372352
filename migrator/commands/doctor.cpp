#include <ostream>
#include <ringshard/error.hpp>
#include <string>
#include <utility>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/commands/view.hpp"
#include "migrator/doctor/examination.hpp"
#include "migrator/doctor/reference.hpp"
#include "migrator/report/doctor_report.hpp"

namespace ringshard::cli {
namespace {

/// What is mended can bring the next thing to light: an owner that was promoted still has its
/// capture.
constexpr int rounds_max = 5;

/// Mends what can be mended; true if something was.
bool mend(Examination& examination, std::vector<Finding>& mended) {
  bool some = false;
  for (Finding& finding : examination.findings) {
    if (!finding.mend) continue;
    try {
      finding.mend();
      finding.mended = true;
      mended.push_back(finding);
      some = true;
    } catch (const Error& error) {
      finding.failure = error.what();
    }
  }
  return some;
}

void refresh(OpenFleet& fleet) { fleet.topology = fleet.catalog.topology(fleet.keyspace.name); }

/// Why the same finding could not be mended the last time is known only from that time.
void keep_failures(const Examination& before, Examination& now) {
  for (Finding& finding : now.findings)
    for (const Finding& earlier : before.findings)
      if (earlier.kind == finding.kind && earlier.shard == finding.shard &&
          earlier.node == finding.node)
        finding.failure = earlier.failure;
}

void copy_references(OpenFleet& fleet, const std::string& origin, Context& context,
                     ProgressView& view) {
  if (!fleet.topology.find_node(origin))
    throw Error(ErrorCode::not_found, "there is no node '" + origin + "'");
  for (const NodeInfo& node : fleet.topology.nodes()) {
    if (node.name == origin || node.state == NodeState::removed) continue;
    copy_reference(fleet, origin, node.name, context.clock, view);
    view.say("the reference home on node '" + node.name + "' was made equal to that of '" + origin +
             "'");
  }
}

}  // namespace

int run(const DoctorOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  DoctorReport report;
  report.keyspace = fleet.keyspace.name;
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    if (options.reference_from) copy_references(fleet, *options.reference_from, context, view);
    report.examination = examine(fleet, context.clock, view);
    for (int round = 0; options.mend && round < rounds_max && !report.clean(); ++round) {
      const bool some = mend(report.examination, report.mended);
      refresh(fleet);
      Examination now = examine(fleet, context.clock, view);
      keep_failures(report.examination, now);
      report.examination = std::move(now);
      if (!some) break;
    }
  }
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return report.clean() ? exit_done : exit_differs;
}

}  // namespace ringshard::cli
