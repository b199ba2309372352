#include "setup_fixture.hpp"

#include <algorithm>
#include <stdexcept>

namespace ringshard::testing {

namespace fs = std::filesystem;

FleetFixture::FleetFixture(const std::string& key, std::uint32_t shards,
                           const std::string& tables) {
  config = parse_config(
      "catalog: sqlite:catalog.db\n"
      "keyspace:\n  name: shop\n  key: '" +
          key + "'\n  shards: " + std::to_string(shards) + "\n  tables:\n" + tables +
          "nodes:\n"
          "  - {name: a, dsn: 'sqlite:a'}\n"
          "  - {name: b, dsn: 'sqlite:b'}\n"
          "  - {name: c, dsn: 'sqlite:c'}\n"
          "sqlite: {synchronous: normal}\n",
      "config.yaml", folder.path());
}

void FleetFixture::with_schema(const std::string& sql) {
  config.keyspace.schema[""] = folder.write("schema.sql", sql).string();
}

ImportReport FleetFixture::import_sql(const std::string& sql) {
  run_sql(source(), sql);
  return import_file(source());
}

std::vector<fs::path> FleetFixture::homes() {
  std::vector<fs::path> homes;
  const Topology topology = catalog().topology("shop", true);
  for (std::uint32_t shard = 0; shard < topology.shard_count(); ++shard)
    homes.push_back(node(topology.node(topology.node_of(ShardId{shard})).name) /
                    ("shop_" + std::to_string(shard) + ".db"));
  return homes;
}

std::vector<std::string> FleetFixture::in_all_homes(const std::string& sql) {
  std::vector<std::string> rows;
  for (const fs::path& home : homes()) {
    const fs::path reference = home.parent_path() / "shop_reference.db";
    const std::string attach =
        fs::exists(reference) ? "ATTACH '" + reference.string() + "' AS ringshard_reference;" : "";
    const auto found = run_sql(home, attach + sql);
    rows.insert(rows.end(), found.begin(), found.end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> FleetFixture::files_on_nodes() const {
  std::vector<std::string> files;
  for (const NodeConfig& each : config.nodes) {
    const fs::path directory = node(each.name);
    if (!fs::exists(directory)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      if (entry.is_regular_file() && entry.path().extension() == ".db")
        files.push_back(fs::relative(entry.path(), folder.path()).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string message_of(ErrorCode code, const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    if (error.code() == code) return error.what();
    return "";
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace ringshard::testing
