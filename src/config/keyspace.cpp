#include <algorithm>
#include <cctype>
#include <cstddef>
#include <ringshard/hash.hpp>
#include <ringshard/ids.hpp>
#include <ringshard/key.hpp>
#include <set>

#include "config/reader.hpp"

namespace ringshard {

std::optional<std::string> KeyspaceConfig::schema_for(std::string_view engine) const {
  auto found = schema.find(std::string(engine));
  if (found == schema.end()) found = schema.find("");
  return found == schema.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace ringshard

namespace ringshard::config {
namespace {

std::string keyspace_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_';
  };
  const bool good = !name.empty() && name.size() <= 40 &&
                    std::islower(static_cast<unsigned char>(name.front())) != 0 &&
                    std::all_of(name.begin(), name.end(), allowed);
  if (!good) {
    throw ScalarError(
        "must be lower-case letters, digits and _, at most 40, and start with a letter");
  }
  return name;
}

std::string hash_name(const std::string& name) {
  std::vector<std::string> names;
  for (const HashStrategy strategy : hash_strategies()) names.emplace_back(to_string(strategy));
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw ScalarError("is no hash strategy" + suggestion(name, names));
  }
  return name;
}

std::string key_spec(const std::string& text) { return KeySpec::parse(text).to_string(); }

ParentConfig read_parent(Findings& findings, const Node& node, const std::string& label) {
  ParentConfig parent;
  Section section(findings, node, "keyspace.tables[].parent", label);
  section.read_required("table", parent.table, not_empty);
  const Node* columns = section.require("columns");
  if (columns != nullptr && section.expect(*columns, Node::Kind::mapping, label + ".columns")) {
    std::set<std::string> seen;
    for (const Entry& entry : columns->entries) {
      std::string column;
      section.read_node(entry.value, label + ".columns." + entry.key, column, not_empty);
      if (!seen.insert(entry.key).second) {
        section.mistake(entry.line, label + ".columns." + entry.key + " is there twice");
      }
      parent.columns.emplace_back(entry.key, column);
    }
    if (columns->entries.empty()) section.mistake(columns->line, label + ".columns is empty");
  }
  section.finish();
  return parent;
}

// One column, or a list of them.
std::vector<std::string> read_key_columns(Section& section, const Node& node,
                                          const std::string& label) {
  std::vector<std::string> columns;
  if (node.kind != Node::Kind::list) {
    section.read_node(node, label, columns.emplace_back(), not_empty);
    return columns;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    section.read_node(node.items[i], label + "[" + std::to_string(i) + "]", columns.emplace_back(),
                      not_empty);
  }
  return columns;
}

class TablesReader {
 public:
  TablesReader(Section& keyspace, std::size_t key_parts)
      : keyspace_(keyspace), key_parts_(key_parts) {}

  std::vector<TableConfig> read(const Node& list) {
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const std::string label = "keyspace.tables[" + std::to_string(i) + "]";
      if (keyspace_.expect(list.items[i], Node::Kind::mapping, label)) {
        read_table(list.items[i], label);
      }
    }
    check_parents();
    return std::move(tables_);
  }

 private:
  struct Place {
    int line;
    std::string label;
  };

  void read_table(const Node& node, const std::string& label) {
    TableConfig table;
    Section section(keyspace_.findings(), node, "keyspace.tables[]", label);
    section.read_required("name", table.name, not_empty);
    if (const Node* key = section.find("key")) {
      table.key = read_key_columns(section, *key, label + ".key");
      if (key_parts_ > 0 && table.key.size() != key_parts_) {
        section.mistake(key->line, label + ".key names " + std::to_string(table.key.size()) +
                                       " columns, but keyspace.key has " +
                                       std::to_string(key_parts_) + " parts");
      }
    }
    const Node* parent = section.find("parent");
    if (parent != nullptr && section.expect(*parent, Node::Kind::mapping, label + ".parent")) {
      table.parent = read_parent(section.findings(), *parent, label + ".parent");
    }
    section.read("reference", table.reference, parse_bool);
    const int ways = (section.find("key") != nullptr ? 1 : 0) + (parent != nullptr ? 1 : 0) +
                     (table.reference ? 1 : 0);
    if (ways != 1) {
      section.mistake(node.line, label + " needs exactly one of key, parent and reference: true");
    }
    section.finish();
    if (!table.name.empty() && find(table.name) != nullptr) {
      section.mistake(section.line_of("name"),
                      label + ".name \"" + table.name + "\" is there twice");
    }
    tables_.push_back(std::move(table));
    places_.push_back({parent != nullptr ? parent->line : node.line, label});
  }

  const TableConfig* find(const std::string& name) const {
    const auto found = std::find_if(tables_.begin(), tables_.end(),
                                    [&](const TableConfig& table) { return table.name == name; });
    return found == tables_.end() ? nullptr : &*found;
  }

  // Every child must lead to a table that has a key.
  void check_parents() {
    std::vector<std::string> names;
    for (const TableConfig& table : tables_) names.push_back(table.name);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      if (!tables_[i].parent || tables_[i].parent->table.empty()) continue;
      const std::string& parent_name = tables_[i].parent->table;
      const TableConfig* parent = find(parent_name);
      const std::string what = places_[i].label + ".parent.table \"" + parent_name + "\" ";
      if (parent == nullptr) {
        keyspace_.mistake(places_[i].line,
                          what + "is no table of this keyspace" + suggestion(parent_name, names));
      } else if (parent->reference) {
        keyspace_.mistake(places_[i].line, what + "is a reference table, which has no key");
      } else if (leads_in_a_circle(tables_[i])) {
        keyspace_.mistake(places_[i].line, what + "leads in a circle, not to a table with a key");
      }
    }
  }

  bool leads_in_a_circle(const TableConfig& start) const {
    const TableConfig* table = &start;
    for (std::size_t step = 0; step <= tables_.size(); ++step) {
      if (!table->parent) return false;
      table = find(table->parent->table);
      if (table == nullptr) return false;  // reported at the table that names it
    }
    return true;
  }

  Section& keyspace_;
  std::size_t key_parts_;  // 0 if the key is not known
  std::vector<TableConfig> tables_;
  std::vector<Place> places_;
};

// One file, or one for each kind of database.
void read_schema_files(Section& section, const std::string& folder,
                       std::map<std::string, std::string>& files) {
  const Node* node = section.find("schema");
  if (node == nullptr) return;
  const auto path_in = [&](const std::string& path) {
    return resolve_path(not_empty(path), folder);
  };
  if (node->kind != Node::Kind::mapping) {
    std::string path;
    if (section.read_node(*node, section.label_of("schema"), path, path_in)) files[""] = path;
    return;
  }
  Section kinds(section.findings(), *node, "keyspace.schema", "keyspace.schema");
  for (const char* engine : {"sqlite", "postgres"}) {
    std::string path;
    if (kinds.read(engine, path, path_in)) files[engine] = path;
  }
  kinds.finish();
}

}  // namespace

KeyspaceConfig read_keyspace(Section& root, const std::string& folder) {
  KeyspaceConfig keyspace;
  const Node* node = root.require("keyspace");
  if (node == nullptr || !root.expect(*node, Node::Kind::mapping, "keyspace")) return keyspace;

  Section section(root.findings(), *node, "keyspace", "keyspace");
  section.read_required("name", keyspace.name, keyspace_name);
  const bool has_key = section.read_required("key", keyspace.key, key_spec);
  const bool has_hash = section.read("hash", keyspace.hash, hash_name);
  section.read("shards", keyspace.shards, [](const std::string& text) {
    return static_cast<std::uint32_t>(parse_integer(text, 1, shard_count_max));
  });
  if (has_hash && has_key && keyspace.hash == "modulo" && keyspace.key != "int64") {
    section.mistake(section.line_of("hash"),
                    "keyspace.hash \"modulo\" needs keyspace.key int64, not " + keyspace.key);
  }
  read_schema_files(section, folder, keyspace.schema);
  const Node* tables = section.find("tables");
  if (tables != nullptr && section.expect(*tables, Node::Kind::list, "keyspace.tables")) {
    const std::size_t parts = has_key ? KeySpec::parse(keyspace.key).parts().size() : 0;
    keyspace.tables = TablesReader(section, parts).read(*tables);
  }
  section.finish();
  return keyspace;
}

}  // namespace ringshard::config
