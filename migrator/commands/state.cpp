#include <algorithm>
#include <ostream>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <ringshard/hash.hpp>
#include <ringshard/key.hpp>
#include <ringshard/ring.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/planner.hpp"
#include "core/row_hash.hpp"
#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/report/state_report.hpp"

// Commands that look and change nothing: status, ring, route, events.

namespace ringshard::cli {
namespace {

std::vector<NodeLine> node_lines(const Topology& topology) {
  std::vector<double> weights;
  for (const NodeInfo& node : topology.nodes())
    weights.push_back(node.state == NodeState::active ? node.weight : 0);
  std::vector<std::uint32_t> due(weights.size(), 0);
  if (std::ranges::any_of(weights, [](double weight) { return weight > 0; }))
    due = quotas(weights, topology.shard_count());
  std::vector<NodeLine> lines;
  for (std::size_t i = 0; i < topology.nodes().size(); ++i) {
    const NodeInfo& node = topology.nodes()[i];
    const auto shards = std::ssize(topology.shards_of(NodeIndex{static_cast<std::uint16_t>(i)}));
    lines.push_back({.name = node.name,
                     .dsn = redact(node.dsn),
                     .state = std::string(ringshard::to_string(node.state)),
                     .zone = node.zone,
                     .weight = node.weight,
                     .shards = shards,
                     .quota = due[i],
                     .share = static_cast<double>(shards) / topology.shard_count()});
  }
  return lines;
}

double balance_of(const Topology& topology, const std::vector<NodeLine>& lines) {
  double weights = 0;
  double most = 0;
  for (const NodeLine& line : lines) {
    if (line.state != "active") continue;
    weights += line.weight;
    most = std::max(most, static_cast<double>(line.shards) / line.weight);
  }
  return weights > 0 ? most / (topology.shard_count() / weights) : 1;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += digits[byte >> 4U];
    text += digits[byte & 0xfU];
  }
  return text;
}

/// Looks at the home where the placement says it is, and goes on to its peer until one says owner.
void follow_records(OpenFleet& fleet, RouteReport& report) {
  std::set<std::string> seen;
  for (std::string node = report.node; !node.empty() && seen.insert(node).second;) {
    FoundRecord found{node, std::nullopt, ""};
    try {
      found.record = find_record(fleet.nodes.at(node), fleet.home_of(report.shard));
    } catch (const Error& error) {
      found.error = error.what();
    }
    node = found.record ? found.record->peer : "";
    if (found.record && found.record->role == Role::owner && report.owner.empty())
      report.owner = found.node;
    report.records.push_back(std::move(found));
  }
}

}  // namespace

int run(const StatusOptions& options, Context& context) {
  const Config config = read_config(options.common);
  Catalog catalog = Catalog::open(config.catalog, context.clock);
  const auto keyspace = catalog.keyspace(config.keyspace.name);
  const Topology topology = catalog.topology(config.keyspace.name, true);
  StatusReport report;
  report.keyspace = topology.keyspace();
  report.state = keyspace ? ringshard::to_string(keyspace->state) : "";
  report.version = topology.version();
  report.shards = topology.shard_count();
  report.nodes = node_lines(topology);
  report.balance = balance_of(topology, report.nodes);
  report.show_finished = options.all || options.move.has_value();
  report.now_ms = context.clock.unix_ms();
  if (options.move)
    report.moves.push_back(find_move(catalog, report.keyspace, *options.move));
  else
    report.moves = catalog.moves(report.keyspace, false);
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return exit_done;
}

int run(const RingOptions& options, Context& context) {
  const OpenFleet fleet = open_fleet(options.common, context.clock);
  RingReport report;
  report.keyspace = fleet.keyspace.name;
  report.version = fleet.topology.version();
  report.nodes = node_lines(fleet.topology);
  report.balance = balance_of(fleet.topology, report.nodes);
  HashRing<std::string> ring;
  for (const NodeInfo& node : fleet.topology.nodes())
    if (node.state == NodeState::active) ring.add(node.name, node.weight);
  report.skew = ring.skew();
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return exit_done;
}

int run(const RouteOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  const KeyValue key = parse_key(fleet.topology.key_spec(), options.key);
  const Route route = fleet.topology.route(key);
  RouteReport report;
  report.key = describe(key.view());
  report.shard = route.shard;
  report.node = fleet.topology.node(route.node).name;
  report.explained = options.explain;
  if (options.explain) {
    report.bytes = hex(canonical_bytes(key));
    report.hash_strategy = ringshard::to_string(fleet.topology.hash_strategy());
    report.hash = core::hex16(hash_key(fleet.topology.hash_strategy(), key));
    report.shard_count = fleet.topology.shard_count();
    report.epoch = fleet.topology.version();
    report.move = fleet.catalog.unfinished_move_of(fleet.keyspace.name, route.shard);
    follow_records(fleet, report);
  }
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return exit_done;
}

int run(const EventsOptions& options, Context& context) {
  const Config config = read_config(options.common);
  Catalog catalog = Catalog::open(config.catalog, context.clock);
  const std::vector<Event> events = catalog.events(config.keyspace.name, options.limit);
  if (options.common.json)
    print_json(context.out, events);
  else
    print_text(context.out, events);
  return exit_done;
}

}  // namespace ringshard::cli
