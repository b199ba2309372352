#include "migrator/doctor/home_scan.hpp"

#include <algorithm>
#include <ringshard/error.hpp>
#include <ringshard/key.hpp>
#include <utility>

#include "setup/division.hpp"

namespace ringshard::cli {
namespace {

class Scanner {
 public:
  Scanner(HomeStore& store, const KeyspaceDefinition& keyspace, const Topology& topology,
          ShardId shard, std::size_t misplaced_max)
      : store_(store),
        division_(KeySpec::parse(keyspace.key_type), keyspace.tables),
        topology_(topology),
        shard_(shard),
        misplaced_max_(misplaced_max) {}

  HomeScan run() {
    Session& session = store_.session();
    const HomeSchema schema = store_.dialect().describe_schema(session);
    for (const Table& table : schema.tables) {
      TableScan scan{table.name, store_.dialect().digest(session, table, KeyRange{}),
                     division_.is_sharded(table.name)};
      result_.rows += scan.digest.rows;
      if (scan.keys_checked) check_keys(table, scan.digest.rows);
      result_.tables.push_back(std::move(scan));
    }
    return std::move(result_);
  }

 private:
  void check_keys(const Table& table, std::int64_t rows) {
    const TableDefinition& definition = *division_.find(table.name);
    std::string sql = "SELECT " + division_.key_columns(definition, "r");
    for (const std::string& column : table.key) sql += ", r0." + quoted(column);
    sql += " " + division_.from(definition, "r");
    std::int64_t seen = 0;
    store_.session().for_each(sql, {}, [&](RowView row) {
      ++seen;
      check_key(table, row);
      return true;
    });
    // The join leaves out what has no parent here.
    if (seen < rows) result_.keyless[table.name] += rows - seen;
  }

  void check_key(const Table& table, RowView row) {
    const std::size_t width = division_.key().parts().size();
    try {
      const KeyValue key = key_of(row.first(width), division_.key());
      const ShardId belongs = topology_.shard_of(key);
      if (belongs == shard_) return;
      ++result_.rows_misplaced;
      if (result_.misplaced.size() < misplaced_max_)
        result_.misplaced.push_back(
            {table.name, to_row(row.subspan(width)), ringshard::describe(key.view()), belongs});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      ++result_.keyless[table.name];
    }
  }

  HomeStore& store_;
  const setup::Division division_;
  const Topology& topology_;
  const ShardId shard_;
  const std::size_t misplaced_max_;
  HomeScan result_;
};

}  // namespace

HomeScan scan_home(HomeStore& store, const KeyspaceDefinition& keyspace, const Topology& topology,
                   ShardId shard, std::size_t misplaced_max) {
  return Scanner(store, keyspace, topology, shard, misplaced_max).run();
}

std::vector<std::string> parents_first(const KeyspaceDefinition& keyspace) {
  const setup::Division division(KeySpec::parse(keyspace.key_type), keyspace.tables);
  std::vector<std::pair<std::size_t, std::string>> depths;
  for (const TableDefinition& table : keyspace.tables)
    if (!table.reference) depths.emplace_back(division.chain(table).size(), table.name);
  std::ranges::stable_sort(depths, {}, &std::pair<std::size_t, std::string>::first);
  std::vector<std::string> names;
  for (auto& [depth, name] : depths) names.push_back(std::move(name));
  return names;
}

std::string describe(const MisplacedRow& row) {
  return "table " + row.table + ", primary key " + ringshard::describe(row.primary_key) +
         ": its key " + row.key + " belongs to shard " + std::to_string(row.belongs.value);
}

}  // namespace ringshard::cli
