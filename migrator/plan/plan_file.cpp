#include "migrator/plan/plan_file.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <set>
#include <system_error>

#include "core/row_hash.hpp"

namespace ringshard::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int plan_format = 1;
constexpr const char* plan_kind = "ringshard plan";

Json to_json(const NodeInfo& node) {
  return {{"name", node.name},
          {"dsn", redact(node.dsn)},
          {"weight", node.weight},
          {"state", ringshard::to_string(node.state)},
          {"zone", node.zone}};
}

Json to_json(const PlannedMove& move) {
  return {{"id", move.id},         {"shard", move.shard.value}, {"source", move.source},
          {"target", move.target}, {"rows", move.rows},         {"bytes", move.bytes}};
}

Json without_checksum(const Plan& plan) {
  Json json = {{"kind", plan_kind},
               {"format", plan_format},
               {"id", plan.id},
               {"keyspace", plan.keyspace},
               {"catalog_id", plan.catalog_id},
               {"version", plan.version},
               {"created_ms", plan.created_ms},
               {"by", to_string(plan.by)},
               {"share_moved", plan.share_moved},
               {"least_share", plan.least_share},
               {"balance_before", plan.balance_before},
               {"balance_after", plan.balance_after},
               {"moves_left_out", plan.moves_left_out},
               {"floor_shard", nullptr},
               {"balance_floor", plan.balance_floor},
               {"rows_counted", plan.rows_counted},
               {"shards_in_moves", plan.shards_in_moves},
               {"changes", plan.changes},
               {"nodes", Json::array()},
               {"moves", Json::array()}};
  if (plan.floor_shard) json["floor_shard"] = plan.floor_shard->value;
  for (const NodeInfo& node : plan.nodes) json["nodes"].push_back(to_json(node));
  for (const PlannedMove& move : plan.moves) json["moves"].push_back(to_json(move));
  return json;
}

std::string checksum_of(const Json& json) { return core::hex16(core::hash_text(json.dump())); }

BalanceBy parse_by(const std::string& text) {
  for (const BalanceBy by : {BalanceBy::shards, BalanceBy::rows, BalanceBy::bytes})
    if (to_string(by) == text) return by;
  throw Error(ErrorCode::corrupt, "the plan balances '" + text + "', which is not known");
}

Plan from_json(const Json& json) {
  Plan plan;
  json.at("id").get_to(plan.id);
  json.at("keyspace").get_to(plan.keyspace);
  json.at("catalog_id").get_to(plan.catalog_id);
  json.at("version").get_to(plan.version);
  json.at("created_ms").get_to(plan.created_ms);
  plan.by = parse_by(json.at("by").get<std::string>());
  json.at("share_moved").get_to(plan.share_moved);
  json.at("least_share").get_to(plan.least_share);
  json.at("balance_before").get_to(plan.balance_before);
  json.at("balance_after").get_to(plan.balance_after);
  json.at("moves_left_out").get_to(plan.moves_left_out);
  if (!json.at("floor_shard").is_null())
    plan.floor_shard = ShardId{json.at("floor_shard").get<std::uint32_t>()};
  json.at("balance_floor").get_to(plan.balance_floor);
  json.at("rows_counted").get_to(plan.rows_counted);
  json.at("shards_in_moves").get_to(plan.shards_in_moves);
  json.at("changes").get_to(plan.changes);
  for (const Json& node : json.at("nodes"))
    plan.nodes.push_back({.name = node.at("name").get<std::string>(),
                          .dsn = node.at("dsn").get<std::string>(),
                          .weight = node.at("weight").get<double>(),
                          .state = parse_node_state(node.at("state").get<std::string>()),
                          .zone = node.at("zone").get<std::string>()});
  for (const Json& move : json.at("moves"))
    plan.moves.push_back({.id = move.at("id").get<std::string>(),
                          .shard = ShardId{move.at("shard").get<std::uint32_t>()},
                          .source = move.at("source").get<std::string>(),
                          .target = move.at("target").get<std::string>(),
                          .rows = move.at("rows").get<std::int64_t>(),
                          .bytes = move.at("bytes").get<std::int64_t>()});
  return plan;
}

void require_consistent(const Plan& plan) {
  const auto known = [&](const std::string& name) {
    return std::ranges::any_of(plan.nodes, [&](const NodeInfo& node) { return node.name == name; });
  };
  std::set<ShardId> shards;
  std::set<std::string> ids;
  for (const PlannedMove& move : plan.moves) {
    const std::string shard = "the plan's move of shard " + std::to_string(move.shard.value);
    if (move.source == move.target)
      throw Error(ErrorCode::corrupt, shard + " goes from node '" + move.source + "' to itself");
    for (const std::string& node : {move.source, move.target})
      if (!known(node))
        throw Error(ErrorCode::corrupt,
                    shard + " names node '" + node + "', which it does not list");
    if (!shards.insert(move.shard).second)
      throw Error(ErrorCode::corrupt, shard + " is in it twice");
    if (move.id.empty() || !ids.insert(move.id).second)
      throw Error(ErrorCode::corrupt, shard + " has no id of its own");
  }
}

}  // namespace

std::string serialize(const Plan& plan) {
  Json json = without_checksum(plan);
  json["checksum"] = checksum_of(json);
  return json.dump(2) + "\n";
}

Plan parse_plan(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("kind", Json()) != plan_kind)
    throw Error(ErrorCode::corrupt, "this is no plan of `ringshard plan --out`, or it was cut off");
  if (json.value("format", Json()) != plan_format)
    throw Error(ErrorCode::refused, "the plan has format " + json.value("format", Json()).dump() +
                                        ", this program knows format " +
                                        std::to_string(plan_format) + ": plan again with it");
  const Json checksum = json.value("checksum", Json());
  json.erase("checksum");
  if (checksum != checksum_of(json))
    throw Error(ErrorCode::corrupt,
                "the plan was altered since it was made: its checksum does not fit; run `ringshard "
                "plan` again");
  try {
    Plan plan = from_json(json);
    require_consistent(plan);
    return plan;
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::corrupt, std::string("the plan can not be read: ") + error.what());
  }
}

void write_plan(const Plan& plan, const std::filesystem::path& path) {
  // Beside it first: a plan that was cut off by a full disk must not replace a good one.
  std::filesystem::path beside = path;
  beside += ".new";
  std::error_code failure;
  {
    std::ofstream file(beside, std::ios::binary | std::ios::trunc);
    if (!file) throw Error(ErrorCode::read_only, "the plan can not be written to " + path.string());
    file << serialize(plan);
    file.close();
    if (!file) {
      std::filesystem::remove(beside, failure);
      throw Error(ErrorCode::storage_full,
                  "the plan could not be written whole to " + path.string());
    }
  }
  std::filesystem::rename(beside, path, failure);
  if (failure) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw Error(ErrorCode::read_only,
                "the plan can not be written to " + path.string() + ": " + failure.message());
  }
}

Plan read_plan(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    throw Error(ErrorCode::not_found, "there is no plan file " + path.string());
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return parse_plan(text);
  } catch (const Error& error) {
    throw Error(error.code(), path.string() + ": " + error.what());
  }
}

}  // namespace ringshard::cli
