#include "setup/division.hpp"

#include <algorithm>
#include <cstddef>

#include "backend/session.hpp"

namespace ringshard::setup {

namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool equal_but_for_case(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

std::string hint(std::string_view name, const std::vector<std::string>& names) {
  for (const std::string& other : names)
    if (equal_but_for_case(name, other)) return "; it has '" + other + "': write it like that";
  return "";
}

void check_columns(const Table& table, const std::vector<std::string>& columns,
                   const std::string& what, Problems& problems) {
  for (const std::string& column : columns)
    if (!contains(table.columns, column))
      problems.add("table '" + table.name + "' has no column '" + column + "' (" + what + ")" +
                   hint(column, table.columns));
}

/// Values in these columns, together, occur once: they hold a key that the database enforces.
bool are_unique(const Table& table, const std::vector<std::string>& columns) {
  const auto holds = [&](const std::vector<std::string>& key) {
    return !key.empty() && std::all_of(key.begin(), key.end(), [&](const std::string& column) {
      return contains(columns, column);
    });
  };
  return holds(table.key) || std::any_of(table.unique_keys.begin(), table.unique_keys.end(), holds);
}

std::string alias(const std::string& prefix, std::size_t position) {
  return prefix + std::to_string(position);
}

}  // namespace

const TableDefinition* Division::find(std::string_view table) const noexcept {
  const auto found =
      std::find_if(tables_.begin(), tables_.end(),
                   [&](const TableDefinition& other) { return other.name == table; });
  return found == tables_.end() ? nullptr : &*found;
}

bool Division::is_sharded(std::string_view table) const noexcept {
  const TableDefinition* definition = find(table);
  return definition != nullptr && !definition->reference;
}

bool Division::is_reference(std::string_view table) const noexcept {
  const TableDefinition* definition = find(table);
  return definition != nullptr && definition->reference;
}

void Division::check(const HomeSchema& schema, Problems& problems) const {
  for (const Table& table : schema.tables)
    if (find(table.name) == nullptr)
      problems.add("table '" + table.name +
                   "' is not in the configuration: add it to keyspace.tables with its key, its "
                   "parent, or `reference: true`");
  if (std::none_of(tables_.begin(), tables_.end(),
                   [](const TableDefinition& table) { return !table.key.empty(); }))
    problems.add("no table of the configuration has a key: nothing would be sharded");
  for (const TableDefinition& definition : tables_) check_table(definition, schema, problems);
}

void Division::check_table(const TableDefinition& definition, const HomeSchema& schema,
                           Problems& problems) const {
  const Table* table = schema.find(definition.name);
  if (table == nullptr) {
    std::vector<std::string> names;
    for (const Table& other : schema.tables) names.push_back(other.name);
    problems.add("there is no table '" + definition.name + "' that the configuration mentions" +
                 hint(definition.name, names));
    return;
  }
  if (definition.reference) return;
  if (!definition.parent.empty()) return check_parent(definition, schema, problems);
  if (definition.key.size() != key_.parts().size())
    problems.add("table '" + table->name + "' has the key columns (" + joined(definition.key) +
                 "), the keyspace's key is " + key_.to_string() +
                 ": name one column for each part");
  check_columns(*table, definition.key, "its key", problems);
}

void Division::check_parent(const TableDefinition& definition, const HomeSchema& schema,
                            Problems& problems) const {
  const std::string name = "table '" + definition.name + "'";
  const TableDefinition* parent = find(definition.parent);
  if (parent == nullptr)
    return problems.add(name + " has the parent '" + definition.parent +
                        "', which the configuration does not mention");
  if (parent->reference)
    return problems.add(name + " has the parent '" + parent->name +
                        "', a reference table: that has no key to be found");
  if (leads_in_a_circle(definition))
    return problems.add(name + " has parents that lead in a circle: one of them needs a key");
  std::vector<std::string> here;
  std::vector<std::string> there;
  for (const auto& [own, parents] : definition.parent_columns) {
    here.push_back(own);
    there.push_back(parents);
  }
  check_columns(*schema.find(definition.name), here, "to find its parent", problems);
  const Table* parent_table = schema.find(definition.parent);
  if (parent_table == nullptr) return;  // said already
  check_columns(*parent_table, there, "named by its child '" + definition.name + "'", problems);
  if (!are_unique(*parent_table, there))
    problems.add("the columns (" + joined(there) + ") of '" + parent_table->name +
                 "' do not name one row: " + name +
                 " finds its parent only through the columns of a primary or unique key");
}

bool Division::leads_in_a_circle(const TableDefinition& definition) const {
  const TableDefinition* at = &definition;
  for (std::size_t steps = 0; steps <= tables_.size(); ++steps) {
    if (at == nullptr || at->parent.empty()) return false;
    at = find(at->parent);
  }
  return true;
}

std::vector<const TableDefinition*> Division::chain(const TableDefinition& table) const {
  std::vector<const TableDefinition*> chain{&table};
  while (!chain.back()->parent.empty()) chain.push_back(find(chain.back()->parent));
  return chain;
}

std::string Division::from(const TableDefinition& table, const std::string& prefix) const {
  return "FROM " + quoted(table.name) + " AS " + alias(prefix, 0) + joins(table, prefix);
}

std::string Division::joins(const TableDefinition& table, const std::string& prefix) const {
  std::string sql;
  const auto tables = chain(table);
  for (std::size_t i = 1; i < tables.size(); ++i) {
    sql += " JOIN " + quoted(tables[i]->name) + " AS " + alias(prefix, i) + " ON ";
    bool first = true;
    for (const auto& [own, parents] : tables[i - 1]->parent_columns) {
      sql += std::string(first ? "" : " AND ") + alias(prefix, i) + "." + quoted(parents) + " = " +
             alias(prefix, i - 1) + "." + quoted(own);
      first = false;
    }
  }
  return sql;
}

std::string Division::key_columns(const TableDefinition& table, const std::string& prefix) const {
  const auto tables = chain(table);
  std::string sql;
  for (const std::string& column : tables.back()->key)
    sql += (sql.empty() ? "" : ", ") + alias(prefix, tables.size() - 1) + "." + quoted(column);
  return sql;
}

}  // namespace ringshard::setup
