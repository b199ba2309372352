#include "migrator/report/plan_report.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <ostream>
#include <ringshard/config.hpp>
#include <string>
#include <utility>

#include "migrator/report/format.hpp"
#include "migrator/report/json.hpp"

namespace ringshard::cli {
namespace {

/// More moves than these are summed up by pair of nodes.
constexpr std::size_t listed_moves_max = 40;

struct Flow {
  std::int64_t moves = 0;
  std::int64_t rows = 0;
  std::int64_t bytes = 0;
};

std::map<std::pair<std::string, std::string>, Flow> flows_of(const Plan& plan) {
  std::map<std::pair<std::string, std::string>, Flow> flows;
  for (const PlannedMove& move : plan.moves) {
    Flow& flow = flows[{move.source, move.target}];
    ++flow.moves;
    flow.rows += move.rows;
    flow.bytes += move.bytes;
  }
  return flows;
}

Flow total_of(const Plan& plan) {
  Flow total;
  for (const auto& [nodes, flow] : flows_of(plan)) {
    total.moves += flow.moves;
    total.rows += flow.rows;
    total.bytes += flow.bytes;
  }
  return total;
}

void print_moves(std::ostream& out, const Plan& plan) {
  const char* about = plan.rows_counted ? "" : "~";
  if (plan.moves.size() <= listed_moves_max) {
    TextTable table({"shard", "from", "to", "rows", "bytes"});
    table.numbers({0, 3, 4});
    for (const PlannedMove& move : plan.moves)
      table.add({std::to_string(move.shard.value), move.source, move.target,
                 about + std::to_string(move.rows), bytes_text(move.bytes)});
    table.print(out);
    return;
  }
  TextTable table({"from", "to", "shards", "rows", "bytes"});
  table.numbers({2, 3, 4});
  for (const auto& [nodes, flow] : flows_of(plan))
    table.add({nodes.first, nodes.second, std::to_string(flow.moves),
               about + std::to_string(flow.rows), bytes_text(flow.bytes)});
  table.print(out);
}

void print_figures(std::ostream& out, const Plan& plan) {
  const Flow total = total_of(plan);
  out << count_text(total.moves, "move", "moves") << ", " << count_text(total.rows, "row", "rows")
      << ", " << bytes_text(total.bytes)
      << (plan.rows_counted ? "" : " (rows estimated from bytes)") << '\n'
      << "share moved: " << percent_text(plan.share_moved) << " (theoretical least "
      << percent_text(plan.least_share) << ")\n"
      << "balance (largest load over the mean, by " << to_string(plan.by)
      << "): " << decimal_text(plan.balance_before) << " before, "
      << decimal_text(plan.balance_after) << " after\n";
  if (plan.moves_left_out > 0)
    out << count_text(static_cast<std::int64_t>(plan.moves_left_out), "more move is",
                      "more moves are")
        << " needed for that and left for a later plan\n";
  if (plan.floor_shard)
    out << "shard " << plan.floor_shard->value
        << " alone is more than an even load: no plan gets below "
        << decimal_text(plan.balance_floor) << '\n';
}

Json to_json(const std::vector<PreflightFinding>& findings) {
  Json json = Json::array();
  for (const PreflightFinding& finding : findings)
    json.push_back({{"blocks", finding.blocks},
                    {"node", finding.node},
                    {"object", finding.object},
                    {"text", finding.text}});
  return json;
}

}  // namespace

bool any_blocks(const std::vector<PreflightFinding>& findings) noexcept {
  return std::ranges::any_of(findings, &PreflightFinding::blocks);
}

std::string describe(const PreflightFinding& finding) {
  return std::string(finding.blocks ? "blocks" : "warns ") + "  node '" + finding.node +
         "': " + finding.object + " " + finding.text;
}

void print_text(std::ostream& out, const PreflightReport& report) {
  for (const PreflightFinding& finding : report.findings) out << describe(finding) << '\n';
  out << count_text(report.moves, "move", "moves") << " of keyspace " << report.keyspace
      << (any_blocks(report.findings) ? ": not possible like this\n"
          : report.findings.empty()   ? ": nothing stands in the way\n"
                                      : ": possible\n");
}

void print_json(std::ostream& out, const PreflightReport& report) {
  print(out, {{"keyspace", report.keyspace},
              {"moves", report.moves},
              {"blocks", any_blocks(report.findings)},
              {"findings", to_json(report.findings)}});
}

void print_text(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file) {
  out << "plan " << plan.id << " for keyspace " << plan.keyspace << " at version " << plan.version
      << '\n';
  for (const std::string& change : plan.changes) out << change << '\n';
  if (plan.shards_in_moves > 0)
    out << count_text(static_cast<std::int64_t>(plan.shards_in_moves), "shard is", "shards are")
        << " in unfinished moves and left alone\n";
  if (plan.moves.empty()) {
    out << "nothing to move; balance " << decimal_text(plan.balance_before) << '\n';
  } else {
    print_moves(out, plan);
    print_figures(out, plan);
  }
  if (file) out << "written to " << file->string() << ": run it with `ringshard apply --plan`\n";
}

void print_json(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file,
                const std::vector<PreflightFinding>& findings) {
  const Flow total = total_of(plan);
  Json json = {{"id", plan.id},
               {"keyspace", plan.keyspace},
               {"catalog_id", plan.catalog_id},
               {"version", plan.version},
               {"by", to_string(plan.by)},
               {"changes", plan.changes},
               {"share_moved", plan.share_moved},
               {"least_share", plan.least_share},
               {"balance_before", plan.balance_before},
               {"balance_after", plan.balance_after},
               {"moves_left_out", plan.moves_left_out},
               {"floor_shard", plan.floor_shard ? Json(plan.floor_shard->value) : Json()},
               {"balance_floor", plan.balance_floor},
               {"shards_in_moves", plan.shards_in_moves},
               {"rows", total.rows},
               {"rows_counted", plan.rows_counted},
               {"bytes", total.bytes},
               {"file", file ? Json(file->string()) : Json()},
               {"preflight", to_json(findings)},
               {"nodes", Json::array()},
               {"moves", Json::array()}};
  for (const NodeInfo& node : plan.nodes)
    json["nodes"].push_back({{"name", node.name},
                             {"dsn", redact(node.dsn)},
                             {"weight", node.weight},
                             {"state", ringshard::to_string(node.state)},
                             {"zone", node.zone}});
  for (const PlannedMove& move : plan.moves)
    json["moves"].push_back({{"id", move.id},
                             {"shard", move.shard.value},
                             {"source", move.source},
                             {"target", move.target},
                             {"rows", move.rows},
                             {"bytes", move.bytes}});
  print(out, json);
}

}  // namespace ringshard::cli
