#include "migrator/report/moves_report.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <ringshard/config.hpp>
#include <string_view>

#include "migrator/commands/exit_code.hpp"
#include "migrator/report/format.hpp"
#include "migrator/report/json.hpp"

namespace ringshard::cli {
namespace {

bool changed_hands(MoveStage stage) {
  return stage == MoveStage::cut_over || stage == MoveStage::observing ||
         stage == MoveStage::cleaning || stage == MoveStage::done ||
         stage == MoveStage::rolling_back || stage == MoveStage::rolled_back;
}

std::map<MoveStage, std::int64_t> stages_of(const std::vector<MoveOutcome>& outcomes) {
  std::map<MoveStage, std::int64_t> stages;
  for (const MoveOutcome& outcome : outcomes) ++stages[outcome.move.stage];
  return stages;
}

std::int64_t nearest_rank(const std::vector<std::int64_t>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

std::int64_t rows_copied(const std::vector<MoveOutcome>& outcomes) {
  std::int64_t rows = 0;
  for (const MoveOutcome& outcome : outcomes) rows += outcome.move.rows_copied;
  return rows;
}

std::int64_t rows_verified(const std::vector<MoveOutcome>& outcomes) {
  std::int64_t rows = 0;
  for (const MoveOutcome& outcome : outcomes) rows += outcome.move.rows_verified;
  return rows;
}

void print_observing(std::ostream& out, const std::vector<MoveOutcome>& outcomes) {
  std::int64_t last = 0;
  std::int64_t count = 0;
  for (const MoveOutcome& outcome : outcomes) {
    if (outcome.move.stage != MoveStage::observing) continue;
    ++count;
    last = std::max(last, outcome.move.observe_until_ms);
  }
  if (count == 0) return;
  out << "what remains: " << count_text(count, "move", "moves") << " with a way back until "
      << time_text(last)
      << "; then `ringshard resume` removes the old homes, `ringshard finalize` does it at once, "
         "`ringshard rollback` goes back\n";
}

}  // namespace

int MovesReport::exit_code() const noexcept {
  int code = exit_done;
  for (const MoveOutcome& outcome : outcomes) {
    if (!outcome.error) continue;
    // Whatever a row does not fit into, it is not the command line.
    const int own = exit_code_of(*outcome.error);
    code = worse_of(code, own == exit_usage ? exit_failed : own);
  }
  return code;
}

Pauses pauses_of(const std::vector<MoveOutcome>& outcomes) {
  std::vector<std::int64_t> pauses;
  for (const MoveOutcome& outcome : outcomes)
    if (changed_hands(outcome.move.stage)) pauses.push_back(outcome.move.pause_us);
  if (pauses.empty()) return {};
  std::ranges::sort(pauses);
  return {pauses.size(), nearest_rank(pauses, 50), nearest_rank(pauses, 99), pauses.back()};
}

void print_text(std::ostream& out, const MovesReport& report) {
  out << report.command << ": " << count_text(std::ssize(report.outcomes), "move", "moves")
      << " in " << duration_text(report.elapsed_ms) << '\n';
  for (const auto& [stage, count] : stages_of(report.outcomes))
    out << "  " << count << " " << to_string(stage) << ": " << invariant(stage) << '\n';
  if (!report.outcomes.empty())
    out << "rows copied: " << rows_copied(report.outcomes)
        << ", compared: " << rows_verified(report.outcomes) << '\n';
  if (const Pauses pauses = pauses_of(report.outcomes); pauses.count > 0)
    out << "writers paused: p50 " << microseconds_text(pauses.p50) << ", p99 "
        << microseconds_text(pauses.p99) << ", max " << microseconds_text(pauses.max) << '\n';
  print_observing(out, report.outcomes);
  for (const MoveOutcome& outcome : report.outcomes) {
    if (!outcome.error) continue;
    out << "move " << outcome.move.id << " (shard " << outcome.move.shard.value
        << ") stopped in stage " << to_string(outcome.move.stage) << ": "
        << redact(outcome.error->what()) << '\n';
    for (const Difference& difference : outcome.verified.samples)
      out << "  " << describe(difference) << '\n';
  }
  for (const std::string& note : report.notes) out << note << '\n';
}

Json to_json(const MoveRecord& move) {
  return {{"id", move.id},
          {"plan", move.plan_id},
          {"shard", move.shard.value},
          {"source", move.source},
          {"target", move.target},
          {"stage", to_string(move.stage)},
          {"invariant", invariant(move.stage)},
          {"final", is_final(move.stage)},
          {"wish", to_string(move.wish)},
          {"rows_estimated", move.rows_estimated},
          {"bytes_estimated", move.bytes_estimated},
          {"rows_copied", move.rows_copied},
          {"rows_verified", move.rows_verified},
          {"changes_applied", move.changes_applied},
          {"differences_found", move.differences_found},
          {"cutover_attempts", move.cutover_attempts},
          {"pause_us", move.pause_us},
          {"observe_until_ms", move.observe_until_ms},
          {"last_error", redact(move.error)},
          {"lease_holder", move.lease_holder},
          {"lease_until_ms", move.lease_until_ms},
          {"created_ms", move.created_ms},
          {"updated_ms", move.updated_ms}};
}

Json to_json(const Difference& difference) {
  return {{"table", difference.table},
          {"key", describe(difference.key)},
          {"kind", to_string(difference.kind)},
          {"columns", difference.columns}};
}

void print_json(std::ostream& out, const MovesReport& report) {
  const Pauses pauses = pauses_of(report.outcomes);
  Json stages = Json::object();
  for (const auto& [stage, count] : stages_of(report.outcomes))
    stages[std::string(to_string(stage))] = count;
  Json json = {
      {"command", report.command},
      {"plan", report.plan_id.empty() ? Json() : Json(report.plan_id)},
      {"stages", stages},
      {"rows_copied", rows_copied(report.outcomes)},
      {"rows_verified", rows_verified(report.outcomes)},
      {"pause_us",
       {{"count", pauses.count}, {"p50", pauses.p50}, {"p99", pauses.p99}, {"max", pauses.max}}},
      {"elapsed_ms", report.elapsed_ms},
      {"notes", report.notes},
      {"exit_code", report.exit_code()},
      {"moves", Json::array()}};
  for (const MoveOutcome& outcome : report.outcomes) {
    Json move = to_json(outcome.move);
    move["error"] = outcome.error ? to_json(*outcome.error) : Json();
    move["differences"] = Json::array();
    for (const Difference& difference : outcome.verified.samples)
      move["differences"].push_back(to_json(difference));
    json["moves"].push_back(std::move(move));
  }
  print(out, json);
}

}  // namespace ringshard::cli
