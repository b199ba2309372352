#include <algorithm>
#include <chrono>
#include <ostream>
#include <ringshard/error.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/commands/move_runner.hpp"
#include "migrator/commands/view.hpp"
#include "migrator/report/format.hpp"

// Commands on moves that are there already: resume, pause, abort, rollback, finalize.

namespace ringshard::cli {
namespace {

constexpr auto look_interval = std::chrono::milliseconds(100);

/// The move ended as it was to end: asking again is no mistake, there is just nothing left to do.
bool is_reached(MoveWish wish, const MoveRecord& move) {
  switch (wish) {
    case MoveWish::none:
      return is_final(move.stage);
    case MoveWish::pause:
      return false;
    case MoveWish::abort:
      return move.stage == MoveStage::reverted;
    case MoveWish::roll_back:
      return move.stage == MoveStage::rolled_back;
    case MoveWish::finalize:
      return move.stage == MoveStage::done;
  }
  return false;
}

bool is_granted(MoveWish wish, const MoveRecord& move, Clock& clock) {
  if (wish == MoveWish::pause) return is_final(move.stage) || !is_being_run(move, clock);
  return is_final(move.stage);
}

std::vector<MoveRecord> selected(OpenFleet& fleet, const MoveSelection& selection, MoveWish wish) {
  std::vector<MoveRecord> moves;
  for (const std::string& id : selection.moves)
    moves.push_back(find_move(fleet.catalog, fleet.keyspace.name, id));
  if (selection.shard) {
    const ShardId shard{*selection.shard};
    static_cast<void>(fleet.topology.node_of(shard));  // an unknown shard is not one at rest
    auto move = fleet.catalog.unfinished_move_of(fleet.keyspace.name, shard);
    if (!move)
      throw Error(ErrorCode::not_found,
                  "shard " + std::to_string(shard.value) + " is in no unfinished move")
          .with_shard(shard);
    moves.push_back(*std::move(move));
  }
  if (!selection.moves.empty() || selection.shard) return moves;
  // Of --all, those for which the wish can still mean something.
  for (MoveRecord& move : fleet.catalog.moves(fleet.keyspace.name, true))
    if (can_be_wished(wish, move.stage)) moves.push_back(std::move(move));
  return moves;
}

/// Nothing of a command on several moves is done if one of them can not be meant.
void require_all(const std::vector<MoveRecord>& moves, MoveWish wish) {
  for (const MoveRecord& move : moves) {
    if (can_be_wished(wish, move.stage) || is_reached(wish, move)) continue;
    throw Error(ErrorCode::refused, std::string(command_of(wish)) + " is not possible for move " +
                                        move.id + " of shard " + std::to_string(move.shard.value) +
                                        " in stage " + std::string(to_string(move.stage)) + " (" +
                                        std::string(invariant(move.stage)) + "); " +
                                        way_out(move.stage))
        .with_shard(move.shard);
  }
}

/// Moves that a command has nothing to do for are reported as they are.
void set_aside_reached(MoveWish wish, std::vector<MoveRecord>& moves, MovesReport& report) {
  for (const MoveRecord& move : moves)
    if (is_reached(wish, move)) report.outcomes.push_back({move, std::nullopt, {}});
  std::erase_if(moves, [&](const MoveRecord& move) { return is_reached(wish, move); });
}

/// What was decided before the wish came is carried out, and another wish may have come in between.
void require_granted(MoveWish wish, MoveOutcome& outcome) {
  const MoveRecord& move = outcome.move;
  if (outcome.error || wish == MoveWish::pause || is_reached(wish, move)) return;
  outcome.error = Error(ErrorCode::refused,
                        std::string(command_of(wish)) +
                            " came too late: " + std::string(invariant(move.stage)) +
                            (can_roll_back(move.stage) ? "; `ringshard rollback` goes back" : ""))
                      .with_shard(move.shard);
}

/// Waits for the migrators that run some of the moves. Those that they did not get to are in the
/// outcome with an error; those that nobody runs any more are returned, to be run here.
std::vector<MoveRecord> wait_for_others(OpenFleet& fleet, const WishOptions& options,
                                        std::vector<MoveRecord> moves, Context& context,
                                        ProgressView& view, std::vector<MoveOutcome>& outcomes) {
  const Deadline deadline = Deadline::after(context.clock, options.wait);
  std::vector<MoveRecord> ours;
  for (MoveRecord& move : moves) {
    bool told = false;
    while (true) {
      move = *fleet.catalog.move(move.id);
      if (is_granted(options.wish, move, context.clock)) {
        outcomes.push_back({move, std::nullopt, {}});
        require_granted(options.wish, outcomes.back());
        break;
      }
      if (!is_being_run(move, context.clock)) {
        ours.push_back(move);
        break;
      }
      if (!std::exchange(told, true))
        view.say("move " + move.id + " is being run by " + move.lease_holder +
                 ", which will obey; waiting for it up to " + duration_text(options.wait.count()));
      if (deadline.passed(context.clock) || context.stopped()) {
        outcomes.push_back(
            {move,
             Error(ErrorCode::timeout,
                   "the wish is stored and " + move.lease_holder + " will obey, but has not yet"),
             {}});
        break;
      }
      context.clock.sleep_for(look_interval);
    }
  }
  return ours;
}

void print(const MovesReport& report, const CommonOptions& options, Context& context) {
  if (options.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
}

}  // namespace

int run(const ResumeOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  std::vector<MoveRecord> moves = selected(fleet, options.selection, MoveWish::none);
  require_all(moves, MoveWish::none);
  MoveOptions move = move_options(fleet.config);
  move.repair = move.repair || options.repair;

  MovesReport report{.command = "resume"};
  set_aside_reached(MoveWish::none, moves, report);
  const TimePoint began = context.clock.now();
  for (const MoveRecord& one : moves)
    if (one.wish != MoveWish::none) fleet.catalog.wish(one.id, MoveWish::none);
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    for (MoveOutcome& outcome : run_moves(fleet.config, moves, move, context, view))
      report.outcomes.push_back(std::move(outcome));
  }
  report.elapsed_ms = std::chrono::duration_cast<Duration>(context.clock.now() - began).count();
  if (report.outcomes.empty()) report.notes.push_back("no move is unfinished");
  print(report, options.common, context);
  return report.exit_code();
}

int run(const WishOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  std::vector<MoveRecord> moves = selected(fleet, options.selection, options.wish);
  require_all(moves, options.wish);

  MovesReport report{.command = std::string(command_of(options.wish))};
  set_aside_reached(options.wish, moves, report);
  const TimePoint began = context.clock.now();
  for (const MoveRecord& move : moves) fleet.catalog.wish(move.id, options.wish);
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    const std::vector<MoveRecord> ours =
        wait_for_others(fleet, options, moves, context, view, report.outcomes);
    for (MoveOutcome& outcome :
         run_moves(fleet.config, ours, move_options(fleet.config), context, view)) {
      require_granted(options.wish, outcome);
      report.outcomes.push_back(std::move(outcome));
    }
  }
  report.elapsed_ms = std::chrono::duration_cast<Duration>(context.clock.now() - began).count();
  if (report.outcomes.empty())
    report.notes.push_back("no unfinished move is in a stage where " + report.command +
                           " is possible");
  print(report, options.common, context);
  return report.exit_code();
}

}  // namespace ringshard::cli
