#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <set>

#include "config/reader.hpp"

namespace ringshard {
namespace config {
namespace {

namespace fs = std::filesystem;

std::uint32_t count(const std::string& text) {
  return static_cast<std::uint32_t>(parse_integer(text, 1, 1'000'000));
}

std::chrono::milliseconds some_time(const std::string& text) {
  const auto duration = parse_duration(text);
  if (duration.count() == 0) throw ScalarError("must be longer than nothing");
  return duration;
}

std::uint64_t some_bytes(const std::string& text) {
  const std::uint64_t size = parse_size(text);
  if (size == 0) throw ScalarError("must be more than 0 bytes");
  return size;
}

auto one_of(std::vector<std::string> choices) {
  return [choices = std::move(choices)](const std::string& text) {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      throw ScalarError("is not a choice" + suggestion(text, choices));
    }
    return text;
  };
}

auto dsn_in(const std::string& folder) {
  return [folder](const std::string& dsn) {
    if (const auto mistake = dsn_mistake(dsn)) throw ScalarError(*mistake);
    return resolve_dsn(dsn, folder);
  };
}

std::string node_name(const std::string& name) {
  const bool good =
      !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
      });
  if (!good) throw ScalarError("must be letters, digits, _, - and ., at most 63");
  return name;
}

// Two nodes in one database would write the same homes.
void check_distinct(Section& section, const std::vector<NodeConfig>& nodes, const NodeConfig& node,
                    const std::string& label) {
  for (const NodeConfig& other : nodes) {
    if (!node.name.empty() && other.name == node.name) {
      section.mistake(section.line_of("name"),
                      label + ".name \"" + node.name + "\" is there twice");
    }
    if (!node.dsn.empty() && other.dsn == node.dsn) {
      section.mistake(section.line_of("dsn"),
                      label + ".dsn is the same database as that of node \"" + other.name + "\"");
    }
  }
}

std::vector<NodeConfig> read_nodes(Section& root, const std::string& folder) {
  std::vector<NodeConfig> nodes;
  const Node* list = root.require("nodes");
  if (list == nullptr || !root.expect(*list, Node::Kind::list, "nodes")) return nodes;

  bool some_active = false;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string label = "nodes[" + std::to_string(i) + "]";
    if (!root.expect(list->items[i], Node::Kind::mapping, label)) continue;
    NodeConfig node;
    Section section(root.findings(), list->items[i], "nodes[]", label);
    section.read_required("name", node.name, node_name);
    section.read_required("dsn", node.dsn, dsn_in(folder));
    section.read("weight", node.weight, parse_positive);
    section.read("state", node.state, one_of({"active", "draining"}));
    section.read("zone", node.zone, not_empty);
    section.finish();
    check_distinct(section, nodes, node, label);
    some_active = some_active || node.state == "active";
    nodes.push_back(std::move(node));
  }
  if (!some_active) root.mistake(list->line, "nodes needs one at least that is active");
  // Placements keep the index of a node in 16 bits.
  if (nodes.size() > std::numeric_limits<std::uint16_t>::max()) {
    root.mistake(list->line, "nodes has more than 65535 nodes");
  }
  return nodes;
}

// The section of a key that may be missing, or nothing.
std::optional<Section> subsection(Section& root, std::string_view key) {
  const Node* node = root.find(key);
  const std::string label = root.label_of(key);
  // A mapping that is missing is read too: that is how its keys become known.
  static const Node missing{
      .kind = Node::Kind::mapping, .line = 1, .text = {}, .items = {}, .entries = {}};
  if (node == nullptr) return Section(root.findings(), missing, label, label);
  if (!root.expect(*node, Node::Kind::mapping, label)) return std::nullopt;
  return Section(root.findings(), *node, label, label);
}

RouterConfig read_router(Section& root, const std::string& folder) {
  RouterConfig router;
  auto section = subsection(root, "router");
  if (!section) return router;
  section->read("pool_size_max", router.pool_size_max, count);
  section->read("pool_wait", router.pool_wait, parse_duration);
  section->read("deadline", router.deadline, some_time);
  section->read("poll_interval", router.poll_interval, some_time);
  section->read("mirror_timeout", router.mirror_timeout, some_time);
  section->read("topology_cache", router.topology_cache,
                [&](const std::string& path) { return resolve_path(not_empty(path), folder); });
  section->read("scatter_parallelism", router.scatter_parallelism, count);
  section->finish();
  return router;
}

CutoverConfig read_cutover(Section& move) {
  CutoverConfig cutover;
  auto section = subsection(move, "cutover");
  if (!section) return cutover;
  section->read("pause_budget", cutover.pause_budget, some_time);
  const bool has_lock_timeout = section->read("lock_timeout", cutover.lock_timeout, some_time);
  section->read("attempts_max", cutover.attempts_max, count);
  section->read("retry_delay", cutover.retry_delay, parse_duration);
  section->finish();
  if (!has_lock_timeout) {
    cutover.lock_timeout = std::min(cutover.lock_timeout, cutover.pause_budget);
  } else if (cutover.lock_timeout > cutover.pause_budget) {
    section->mistake(section->line_of("lock_timeout"),
                     "move.cutover.lock_timeout must not be longer than pause_budget, " +
                         std::to_string(cutover.pause_budget.count()) + "ms");
  }
  return cutover;
}

MoveConfig read_move(Section& root) {
  MoveConfig move;
  auto section = subsection(root, "move");
  if (!section) return move;
  section->read("observe_for", move.observe_for, parse_duration);
  move.cutover = read_cutover(*section);
  section->read("chunk_rows", move.chunk_rows, count);
  section->read("chunk_bytes", move.chunk_bytes, some_bytes);
  section->read("change_log_rows_max", move.change_log_rows_max,
                [](const std::string& text) { return parse_integer(text, 1, 1'000'000'000'000); });
  section->read("lease", move.lease, some_time);
  section->read("concurrency", move.concurrency, count);
  section->read("repair", move.repair, parse_bool);
  section->finish();
  return move;
}

SqliteConfig read_sqlite(Section& root) {
  SqliteConfig sqlite;
  auto section = subsection(root, "sqlite");
  if (!section) return sqlite;
  section->read("synchronous", sqlite.synchronous, one_of({"full", "normal"}));
  section->read("foreign_keys", sqlite.foreign_keys, parse_bool);
  section->finish();
  return sqlite;
}

// What `pins` and `forbidden` have in common: shard → something about nodes.
class ShardRules {
 public:
  ShardRules(Section& root, const Config& config) : root_(root), config_(config) {
    for (const NodeConfig& node : config.nodes) node_names_.push_back(node.name);
  }

  std::map<std::uint32_t, std::string> read_pins() {
    std::map<std::uint32_t, std::string> pins;
    for_each_shard("pins", [&](std::uint32_t shard, const Node& node, const std::string& label) {
      std::string name;
      if (!read_node_name(node, label, name)) return true;
      if (forbids(shard, name)) {
        root_.mistake(node.line, label + " pins to \"" + name + "\", which is forbidden for it");
      }
      return pins.emplace(shard, name).second;
    });
    return pins;
  }

  std::map<std::uint32_t, std::vector<std::string>> read_forbidden() {
    std::map<std::uint32_t, std::vector<std::string>> forbidden;
    for_each_shard("forbidden", [&](std::uint32_t shard, const Node& node,
                                    const std::string& label) {
      std::vector<std::string> names;
      if (!root_.expect(node, Node::Kind::list, label)) return true;
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        read_node_name(node.items[i], label + "[" + std::to_string(i) + "]", names.emplace_back());
      }
      if (std::set<std::string>(names.begin(), names.end()).size() >= node_names_.size()) {
        root_.mistake(node.line, label + " leaves no node for the shard");
      }
      return forbidden.emplace(shard, std::move(names)).second;
    });
    return forbidden;
  }

 private:
  template <class Use>
  void for_each_shard(std::string_view key, Use use) {
    const Node* rules = root_.find(key);
    if (rules == nullptr || !root_.expect(*rules, Node::Kind::mapping, std::string(key))) return;
    for (const Entry& entry : rules->entries) {
      const std::string label = std::string(key) + "." + entry.key;
      try {
        const auto shard = static_cast<std::uint32_t>(
            parse_integer(entry.key, 0, std::uint64_t{config_.keyspace.shards} - 1));
        if (!use(shard, entry.value, label)) root_.mistake(entry.line, label + " is there twice");
      } catch (const ScalarError& error) {
        root_.mistake(entry.line, label + ": a shard " + error.what());
      }
    }
  }

  bool read_node_name(const Node& node, const std::string& label, std::string& name) {
    return root_.read_node(node, label, name, [&](const std::string& text) {
      if (std::find(node_names_.begin(), node_names_.end(), text) == node_names_.end()) {
        throw ScalarError("is no node of this file" + suggestion(text, node_names_));
      }
      return text;
    });
  }

  bool forbids(std::uint32_t shard, const std::string& name) const {
    const auto found = config_.forbidden.find(shard);
    return found != config_.forbidden.end() &&
           std::find(found->second.begin(), found->second.end(), name) != found->second.end();
  }

  Section& root_;
  const Config& config_;
  std::vector<std::string> node_names_;
};

}  // namespace

std::string not_empty(const std::string& text) {
  if (text.empty()) throw ScalarError("is empty");
  return text;
}

std::string resolve_path(const std::string& path, const std::string& folder) {
  return (fs::path(folder) / path).lexically_normal().string();
}

Config read_config(const Node& document, Findings& findings, const std::string& folder) {
  Config config;
  Section root(findings, document, "", "");
  if (!root.expect(document, Node::Kind::mapping, "the file")) return config;
  root.read_required("catalog", config.catalog, dsn_in(folder));
  config.keyspace = read_keyspace(root, folder);
  config.nodes = read_nodes(root, folder);
  config.router = read_router(root, folder);
  config.move = read_move(root);
  config.sqlite = read_sqlite(root);
  ShardRules rules(root, config);
  config.forbidden = rules.read_forbidden();
  config.pins = rules.read_pins();
  root.finish();
  return config;
}

}  // namespace config

Config parse_config(std::string_view text, std::string_view name,
                    const std::filesystem::path& folder) {
  config::Findings findings{std::string(name)};
  Config config;
  try {
    const config::Node document = config::parse_document(text);
    config = config::read_config(document, findings, std::filesystem::absolute(folder).string());
  } catch (const config::DocumentError& error) {
    findings.mistake(error.line(), error.what());
  }
  findings.throw_if_any();
  return config;
}

Config load_config(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) {
    throw Error(ErrorCode::not_found, "there is no configuration file " + path.string() +
                                          " that can be read; name one with --config");
  }
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_config(text, path.string(), std::filesystem::absolute(path).parent_path());
}

}  // namespace ringshard
