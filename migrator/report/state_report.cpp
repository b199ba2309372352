#include "migrator/report/state_report.hpp"

#include <map>
#include <ostream>
#include <ringshard/config.hpp>

#include "core/home_text.hpp"
#include "migrator/report/format.hpp"
#include "migrator/report/json.hpp"
#include "migrator/report/moves_report.hpp"

namespace ringshard::cli {
namespace {

void print_nodes(std::ostream& out, const std::vector<NodeLine>& nodes) {
  TextTable table({"node", "state", "weight", "shards", "quota", "share"});
  table.numbers({2, 3, 4, 5});
  for (const NodeLine& node : nodes)
    table.add({node.name, node.state, describe(ValueView(node.weight)), std::to_string(node.shards),
               std::to_string(node.quota), percent_text(node.share)});
  table.print(out);
}

Json to_json(const std::vector<NodeLine>& nodes) {
  Json json = Json::array();
  for (const NodeLine& node : nodes)
    json.push_back({{"name", node.name},
                    {"dsn", node.dsn},
                    {"state", node.state},
                    {"zone", node.zone},
                    {"weight", node.weight},
                    {"shards", node.shards},
                    {"quota", node.quota},
                    {"share", node.share}});
  return json;
}

void print_move(std::ostream& out, const MoveRecord& move, std::int64_t now_ms) {
  out << "move " << move.id << ": shard " << move.shard.value << ", " << move.source << " to "
      << move.target << '\n'
      << "  " << to_string(move.stage) << ": " << invariant(move.stage) << '\n'
      << "  rows copied " << move.rows_copied << " of about " << move.rows_estimated
      << ", compared " << move.rows_verified << ", changes applied " << move.changes_applied
      << '\n';
  if (move.differences_found) out << "  differences were found\n";
  if (move.cutover_attempts > 0)
    out << "  writers paused " << microseconds_text(move.pause_us) << " in cutover attempt "
        << move.cutover_attempts << '\n';
  if (move.stage == MoveStage::observing)
    out << "  way back until " << time_text(move.observe_until_ms)
        << (move.observe_until_ms <= now_ms ? " (over: `ringshard resume` ends it)" : "") << '\n';
  if (move.wish != MoveWish::none && !is_final(move.stage))
    out << "  wish: " << to_string(move.wish) << '\n';
  if (!is_final(move.stage))
    out << "  run by "
        << (move.lease_holder.empty() || move.lease_until_ms <= now_ms ? "nobody"
                                                                       : move.lease_holder)
        << '\n';
  if (!move.error.empty()) out << "  last error: " << redact(move.error) << '\n';
}

Json to_json(const std::optional<HomeRecord>& record) {
  if (!record) return {};
  return {{"role", ringshard::to_string(record->role)},
          {"leg", record->leg},
          {"peer", record->peer},
          {"move", record->move_id}};
}

}  // namespace

void print_text(std::ostream& out, const StatusReport& report) {
  out << "keyspace " << report.keyspace << ": " << report.state << ", version " << report.version
      << ", " << count_text(report.shards, "shard", "shards") << ", balance "
      << decimal_text(report.balance) << '\n';
  print_nodes(out, report.nodes);
  std::map<MoveStage, std::int64_t> finished;
  std::int64_t unfinished = 0;
  for (const MoveRecord& move : report.moves) {
    if (is_final(move.stage))
      ++finished[move.stage];
    else
      ++unfinished;
    if (!is_final(move.stage) || report.show_finished) print_move(out, move, report.now_ms);
  }
  if (unfinished == 0) out << "no move is unfinished\n";
  for (const auto& [stage, count] : finished)
    out << count_text(count, "move", "moves") << " " << to_string(stage) << '\n';
}

void print_json(std::ostream& out, const StatusReport& report) {
  Json json = {{"keyspace", report.keyspace}, {"state", report.state},
               {"version", report.version},   {"shards", report.shards},
               {"balance", report.balance},   {"nodes", to_json(report.nodes)},
               {"moves", Json::array()}};
  for (const MoveRecord& move : report.moves) json["moves"].push_back(to_json(move));
  print(out, json);
}

void print_text(std::ostream& out, const RingReport& report) {
  out << "keyspace " << report.keyspace << " at version " << report.version << '\n';
  print_nodes(out, report.nodes);
  out << "balance of the placement (largest load over the mean): " << decimal_text(report.balance)
      << '\n';
  TextTable table({"node", "points", "share of the ring", "due", "ratio"});
  table.numbers({1, 2, 3, 4});
  for (const RingSkew::Node& node : report.skew.nodes)
    table.add({node.name, std::to_string(node.points), percent_text(node.share),
               percent_text(node.due), decimal_text(node.ratio)});
  table.print(out);
  out << "skew of the ring alone: " << decimal_text(report.skew.ratio_min) << " to "
      << decimal_text(report.skew.ratio_max) << " of what is due\n";
}

void print_json(std::ostream& out, const RingReport& report) {
  Json ring = {{"ratio_min", report.skew.ratio_min},
               {"ratio_max", report.skew.ratio_max},
               {"nodes", Json::array()}};
  for (const RingSkew::Node& node : report.skew.nodes)
    ring["nodes"].push_back({{"name", node.name},
                             {"weight", node.weight},
                             {"points", node.points},
                             {"share", node.share},
                             {"due", node.due},
                             {"ratio", node.ratio}});
  print(out, {{"keyspace", report.keyspace},
              {"version", report.version},
              {"balance", report.balance},
              {"nodes", to_json(report.nodes)},
              {"ring", ring}});
}

void print_text(std::ostream& out, const RouteReport& report) {
  if (!report.explained) {
    out << "shard " << report.shard.value << " on node " << report.node << '\n';
    return;
  }
  out << "key     " << report.key << '\n'
      << "bytes   " << report.bytes << '\n'
      << "hash    " << report.hash << " (" << report.hash_strategy << ")\n"
      << "shard   " << report.shard.value << " of " << report.shard_count << '\n'
      << "node    " << report.node << " (placement)\n"
      << "epoch   " << report.epoch << '\n';
  for (const FoundRecord& found : report.records) {
    out << "home    on " << found.node << ": ";
    if (!found.error.empty())
      out << "can not be asked: " << redact(found.error) << '\n';
    else
      out << (found.record ? describe(*found.record) : "no such home") << '\n';
  }
  out << "owner   "
      << (report.owner.empty() ? "none was found: see `ringshard doctor`" : report.owner) << '\n';
  if (report.move)
    out << "move    " << report.move->id << ", " << report.move->source << " to "
        << report.move->target << ", " << to_string(report.move->stage) << ": "
        << invariant(report.move->stage) << '\n';
  else
    out << "move    none\n";
}

void print_json(std::ostream& out, const RouteReport& report) {
  Json json = {{"key", report.key}, {"shard", report.shard.value}, {"node", report.node}};
  if (!report.explained) return print(out, json);
  json["bytes"] = report.bytes;
  json["hash_strategy"] = report.hash_strategy;
  json["hash"] = report.hash;
  json["shard_count"] = report.shard_count;
  json["epoch"] = report.epoch;
  json["owner"] = report.owner.empty() ? Json() : Json(report.owner);
  json["stage"] = report.move ? Json(to_string(report.move->stage)) : Json();
  json["move"] = report.move ? to_json(*report.move) : Json();
  json["records"] = Json::array();
  for (const FoundRecord& found : report.records)
    json["records"].push_back(
        {{"node", found.node},
         {"record", to_json(found.record)},
         {"error", found.error.empty() ? Json() : Json(redact(found.error))}});
  print(out, json);
}

void print_text(std::ostream& out, const std::vector<Event>& events) {
  for (const Event& event : events)
    out << time_text(event.at_ms) << "  " << event.what
        << (event.move_id.empty() ? "" : " " + event.move_id) << ": " << redact(event.text) << '\n';
  if (events.empty()) out << "no events\n";
}

void print_json(std::ostream& out, const std::vector<Event>& events) {
  Json json = {{"events", Json::array()}};
  for (const Event& event : events)
    json["events"].push_back({{"at_ms", event.at_ms},
                              {"what", event.what},
                              {"move", event.move_id.empty() ? Json() : Json(event.move_id)},
                              {"text", redact(event.text)},
                              {"version", event.version}});
  print(out, json);
}

}  // namespace ringshard::cli
