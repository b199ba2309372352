#include <algorithm>
#include <istream>
#include <ostream>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/commands/move_runner.hpp"
#include "migrator/commands/view.hpp"
#include "migrator/plan/plan_file.hpp"
#include "migrator/plan/planning.hpp"
#include "migrator/plan/preflight.hpp"
#include "migrator/report/format.hpp"
#include "migrator/report/plan_report.hpp"
#include "setup/engine_schema.hpp"
#include "setup/setup.hpp"
#include "support/log.hpp"

namespace ringshard::cli {
namespace {

constexpr std::int64_t events_read_max = 1000;
constexpr int events_named_max = 5;

/// What raised the version since a plan was made, the newest first.
std::string events_since(Catalog& catalog, const Plan& plan) {
  const std::vector<Event> events = catalog.events(plan.keyspace, events_read_max);
  std::string text;
  int named = 0;
  for (std::size_t i = 0; i < events.size() && events[i].version > plan.version; ++i) {
    const bool raised = i + 1 == events.size() || events[i + 1].version < events[i].version;
    if (!raised) continue;
    if (++named > events_named_max) return text + "\n  and more: see `ringshard events`";
    text += "\n  " + time_text(events[i].at_ms) + " " + events[i].what + ": " + events[i].text;
  }
  return text;
}

void require_current(OpenFleet& fleet, const Plan& plan) {
  if (plan.keyspace != fleet.keyspace.name || plan.catalog_id != fleet.catalog.id())
    throw Error(ErrorCode::stale_plan, "plan " + plan.id + " was made for keyspace '" +
                                           plan.keyspace + "' of another catalog (" +
                                           plan.catalog_id + ", this one is " + fleet.catalog.id() +
                                           ", keyspace '" + fleet.keyspace.name + "')");
  if (plan.version != fleet.topology.version())
    throw Error(ErrorCode::stale_plan,
                "plan " + plan.id + " is out of date: it was made at version " +
                    std::to_string(plan.version) + ", now the keyspace is at version " +
                    std::to_string(fleet.topology.version()) + "; since then:" +
                    events_since(fleet.catalog, plan) + "\nrun `ringshard plan` again");
}

/// The plan's nodes with the DSNs that the file does not hold. The configuration must still be the
/// one that it was made with.
WantedNodes nodes_of(const OpenFleet& fleet, const Plan& plan,
                     const std::vector<MoveRecord>& unfinished) {
  WantedNodes wanted = nodes_wanted(fleet.config, fleet.topology, unfinished);
  std::vector<NodeInfo> shown = wanted.nodes;
  for (NodeInfo& node : shown) node.dsn = redact(node.dsn);
  std::vector<NodeInfo> planned = plan.nodes;
  for (NodeInfo& node : planned) node.dsn = redact(node.dsn);
  if (shown != planned)
    throw Error(ErrorCode::stale_plan, "the nodes of the configuration are not those that plan " +
                                           plan.id + " was made with: run `ringshard plan` again");
  return wanted;
}

bool confirmed(const ApplyOptions& options, const Plan& plan, Context& context) {
  if (options.plan || options.yes || options.common.json || context.answers == nullptr ||
      plan.moves.empty())
    return true;
  context.err << "run these moves? [y/N] " << std::flush;
  std::string answer;
  std::getline(*context.answers, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// What homes are made of where moves lead to another kind of database, as the configuration has it
/// now.
void store_schemas(OpenFleet& fleet, const Plan& plan, const WantedNodes& wanted,
                   Context& context) {
  const auto find = [&](const std::string& name) -> const NodeInfo& {
    return *std::ranges::find(wanted.nodes, name, &NodeInfo::name);
  };
  std::vector<NodeInfo> targets;
  for (const PlannedMove& move : plan.moves)
    if (engine_of(find(move.source).dsn) != engine_of(find(move.target).dsn))
      targets.push_back(find(move.target));
  for (const std::string& name : wanted.joining)
    if (!fleet.keyspace.schemas.contains(engine_of(find(name).dsn))) targets.push_back(find(name));
  setup::require_schemas(wanted.nodes, fleet.config.keyspace, fleet.keyspace.schemas);
  for (const auto& [engine, node] : setup::first_of_each_engine(targets)) {
    if (!fleet.config.keyspace.schema_for(engine)) continue;
    fleet.keyspace.schemas[engine] = setup::read_schema(
        fleet.config.keyspace, *node, to_backend_options(fleet.config), context.clock);
    fleet.catalog.store_schema(fleet.keyspace.name, engine, fleet.keyspace.schemas[engine]);
  }
}

/// A node that moves go to has to be there before they are stored: what can not be made is found
/// out while nothing has changed.
void prepare_targets(OpenFleet& fleet, const Plan& plan, const WantedNodes& wanted,
                     Context& context, ProgressView& view) {
  for (const NodeInfo& node : wanted.nodes) {
    const bool is_target = std::ranges::any_of(
        plan.moves, [&](const PlannedMove& move) { return move.target == node.name; });
    const bool joins = std::ranges::count(wanted.joining, node.name) != 0;
    if (!is_target && !joins) continue;
    add_node_homes(fleet.catalog, fleet.keyspace.name, node, to_backend_options(fleet.config),
                   context.clock, view);
  }
}

/// What would stop a move is found out while nothing has changed.
void require_possible(OpenFleet& fleet, const Plan& plan, const WantedNodes& wanted,
                      Context& context) {
  std::string text;
  for (const PreflightFinding& finding :
       preflight(fleet, plan.moves, wanted.nodes, context.clock)) {
    if (finding.passing) continue;  // the moves wait for it
    if (finding.blocks)
      text += "\n  node '" + finding.node + "': " + finding.object + " " + finding.text;
    else
      log::warning(describe(finding));
  }
  if (!text.empty())
    throw Error(ErrorCode::schema, "these moves are not possible like this:" + text);
}

std::vector<MoveRecord> records_of(const Plan& plan) {
  std::vector<MoveRecord> records;
  for (const PlannedMove& move : plan.moves) {
    MoveRecord record;
    record.id = move.id;
    record.plan_id = plan.id;
    record.keyspace = plan.keyspace;
    record.shard = move.shard;
    record.source = move.source;
    record.target = move.target;
    record.rows_estimated = move.rows;
    record.bytes_estimated = move.bytes;
    records.push_back(std::move(record));
  }
  return records;
}

MovesReport run_plan(OpenFleet& fleet, const Plan& plan, const MoveOptions& options,
                     Context& context, ProgressView& view) {
  MovesReport report{.command = "apply", .plan_id = plan.id};
  const TimePoint began = context.clock.now();
  const WantedNodes wanted = nodes_of(fleet, plan, fleet.catalog.moves(plan.keyspace, true));
  store_schemas(fleet, plan, wanted, context);
  prepare_targets(fleet, plan, wanted, context, view);
  require_possible(fleet, plan, wanted, context);
  const std::vector<MoveRecord> moves = records_of(plan);
  if (moves.empty())
    fleet.catalog.store_nodes(plan.keyspace, wanted.nodes);
  else
    fleet.catalog.start_plan(plan.keyspace, plan.id, plan.version, wanted.nodes, moves);
  report.outcomes = run_moves(fleet.config, moves, options, context, view);
  report.elapsed_ms = std::chrono::duration_cast<Duration>(context.clock.now() - began).count();
  report.notes = plan.changes;
  return report;
}

}  // namespace

int run(const ApplyOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  const Plan plan =
      options.plan ? read_plan(*options.plan) : make_plan(fleet, options.planning, context.clock);
  require_current(fleet, plan);
  if (!options.common.json && !options.common.quiet) print_text(context.out, plan, std::nullopt);
  context.out.flush();
  if (!confirmed(options, plan, context)) throw Error(ErrorCode::cancelled, "nothing was done");

  MoveOptions move = move_options(fleet.config);
  if (options.observe_for) move.observe_for = *options.observe_for;
  MovesReport report;
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    report = run_plan(fleet, plan, move, context, view);
  }
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return report.exit_code();
}

}  // namespace ringshard::cli
