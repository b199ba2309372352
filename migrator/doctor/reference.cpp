#include "migrator/doctor/reference.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ringshard/error.hpp>
#include <unordered_set>
#include <utility>

#include "backend/portable/portable.hpp"
#include "setup/setup.hpp"

namespace ringshard::cli {
namespace {

constexpr std::size_t chunk_rows = 5000;
constexpr std::size_t chunk_bytes = std::size_t{8} << 20;
constexpr auto lock_wait = std::chrono::seconds(10);

using Digests = std::map<std::string, Digest>;

HomeSchema schema_of(Backend& backend, const HomeName& home) {
  HomeSchema schema;
  read_home(backend, home, [&](HomeStore& store, const std::optional<HomeRecord>&) {
    schema = store.dialect().describe_schema(store.session());
  });
  return schema;
}

/// Nothing if all of these are of one kind of database; otherwise the tables as one has them that
/// knows what their columns hold.
std::optional<HomeSchema> common_schema(const std::map<std::string, Backend*>& homes,
                                        const HomeName& home) {
  const auto is_like_first = [&](const auto& other) {
    return form_between(homes.begin()->second->dialect(), other.second->dialect()) ==
           RowForm::native;
  };
  if (std::ranges::all_of(homes, is_like_first)) return std::nullopt;
  HomeSchema common = schema_of(*homes.begin()->second, home);
  for (const auto& [node, backend] : homes)
    common = portable::typed_of(common, schema_of(*backend, home));
  return common;
}

Digests digests_of(Backend& backend, const HomeName& home,
                   const std::optional<HomeSchema>& common) {
  Digests digests;
  read_home(backend, home, [&](HomeStore& store, const std::optional<HomeRecord>&) {
    for (const Table& table : store.dialect().describe_schema(store.session()).tables) {
      const Table* shared = common ? common->find(table.name) : nullptr;
      const bool comparable = shared != nullptr && shared->columns == table.columns;
      digests[table.name] = comparable ? store.dialect().digest(store.session(), *shared,
                                                                KeyRange{}, RowForm::portable)
                                       : store.dialect().digest(store.session(), table, KeyRange{});
    }
  });
  return digests;
}

std::vector<ReferenceDifference> differences(const std::string& node, const Digests& found,
                                             const std::string& like, const Digests& expected) {
  std::vector<ReferenceDifference> result;
  for (const auto& [table, digest] : expected) {
    const auto own = found.find(table);
    if (own == found.end())
      result.push_back({node, table, "is missing", like});
    else if (own->second != digest)
      result.push_back(
          {node, table,
           "has " + own->second.str() + " where node '" + like + "' has " + digest.str(), like});
  }
  for (const auto& [table, digest] : found)
    if (!expected.contains(table)) result.push_back({node, table, "is only here", like});
  return result;
}

/// Calls `use` with every row of a table, a chunk at a time.
template <class Use>
void for_each_row(HomeStore& store, const Table& table, Use use) {
  std::optional<Row> after;
  for (bool complete = false; !complete;) {
    RowBatch batch;
    complete = store.read_chunk(table, after, chunk_rows, chunk_bytes, batch);
    if (batch.empty()) return;
    for (std::size_t i = 0; i < batch.size(); ++i) use(batch[i]);
    after = primary_key_of(table, batch[batch.size() - 1]);
  }
}

void make_equal(HomeStore& from, HomeStore& to, const Table& table) {
  std::unordered_set<std::string> keys;
  for_each_row(from, table,
               [&](RowView row) { keys.insert(encode_row(primary_key_of(table, row))); });
  std::vector<Row> extra;
  for_each_row(to, table, [&](RowView row) {
    Row key = primary_key_of(table, row);
    if (!keys.contains(encode_row(key))) extra.push_back(std::move(key));
  });
  for (const Row& key : extra) to.put(table, key, std::nullopt, UniqueConflict::fail);
  for_each_row(from, table, [&](RowView row) {
    to.put(table, primary_key_of(table, row), to_row(row), UniqueConflict::evict);
  });
}

}  // namespace

ReferenceReport compare_references(OpenFleet& fleet) {
  ReferenceReport report;
  report.expected = fleet.keyspace.has_reference_tables();
  if (!report.expected) return report;
  const HomeName home{fleet.keyspace.name, std::nullopt};
  std::map<std::string, Backend*> homes;
  std::map<std::string, Digests> copies;
  std::vector<std::string> without;
  for (const NodeInfo& node : fleet.topology.nodes()) {
    if (node.state == NodeState::removed) continue;
    try {
      Backend& backend = fleet.nodes.at(node.name);
      if (backend.home_exists(home))
        homes[node.name] = &backend;
      else
        without.push_back(node.name);
    } catch (const Error& error) {
      report.unreachable.push_back("node '" + node.name + "': " + error.what());
    }
  }
  const std::optional<HomeSchema> common = common_schema(homes, home);
  for (const auto& [node, backend] : homes) {
    try {
      copies[node] = digests_of(*backend, home, common);
    } catch (const Error& error) {
      report.unreachable.push_back("node '" + node + "': " + error.what());
    }
  }
  report.nodes = std::ssize(copies);
  if (copies.empty()) {
    for (const std::string& node : without)
      report.differences.push_back({node, "", "is missing, and no node has it", ""});
    return report;
  }
  const auto votes = [&](const auto& copy) {
    return std::ranges::count_if(copies,
                                 [&](const auto& other) { return other.second == copy.second; });
  };
  const auto like = std::ranges::max_element(copies, {}, votes);
  report.tables = std::ssize(like->second);
  for (const auto& [table, digest] : like->second) report.rows += digest.rows;
  for (const std::string& node : without)
    report.differences.push_back({node, "", "is missing", like->first});
  for (const auto& [node, digests] : copies)
    for (ReferenceDifference& difference : differences(node, digests, like->first, like->second))
      report.differences.push_back(std::move(difference));
  return report;
}

void copy_reference(OpenFleet& fleet, const std::string& origin, const std::string& node,
                    Clock& clock, Progress& progress) {
  const HomeName home{fleet.keyspace.name, std::nullopt};
  Backend& target = fleet.nodes.at(node);
  if (!target.home_exists(home)) {
    const NodeInfo& info = fleet.topology.node(fleet.topology.find_node(node).value());
    return add_node_homes(fleet.catalog, fleet.keyspace.name, info,
                          to_backend_options(fleet.config), clock, progress);
  }
  read_home(fleet.nodes.at(origin), home, [&](HomeStore& from, const std::optional<HomeRecord>&) {
    const auto session = target.connect(home, SessionUse::maintenance);
    HomeStore to(*session, target.dialect());
    SessionTransaction tx(*session, home, TxMode::write, Deadline::after(clock, lock_wait));
    for (const Table& table : from.dialect().describe_schema(from.session()).tables)
      make_equal(from, to, table);
    tx.commit();
  });
}

}  // namespace ringshard::cli
