#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "setup/setup.hpp"
#include "support/paths.hpp"
#include "support/sqlite_file.hpp"

namespace ringshard::testing {

/// Nodes a, b and c, and a keyspace "shop" whose tables are those of `tables`, YAML lines of
/// keyspace.tables.
struct FleetFixture {
  FleetFixture(const std::string& key, std::uint32_t shards, const std::string& tables);

  TemporaryFolder folder;
  Config config;
  NoProgress progress;

  void with_schema(const std::string& sql);
  InitReport init() { return init_fleet(config, system_clock(), progress); }
  /// Makes the source of these statements, and imports it.
  ImportReport import_sql(const std::string& sql);
  ImportReport import_file(const std::filesystem::path& file) {
    return import_database(config, "sqlite:" + file.string(), system_clock(), progress);
  }
  Catalog catalog() { return Catalog::open(config.catalog, system_clock()); }
  KeyspaceState state() { return catalog().keyspace("shop").value().state; }

  std::filesystem::path source() const { return folder / "source.db"; }
  std::filesystem::path node(const std::string& name) const { return folder / name; }
  /// The files of all shards' homes.
  std::vector<std::filesystem::path> homes();
  /// The rows of a query in all homes together, each with its node's reference home attached.
  std::vector<std::string> in_all_homes(const std::string& sql);
  /// Every file below the nodes' folders.
  std::vector<std::string> files_on_nodes() const;
};

/// The text of the Error of this code that `function` throws; empty if it throws none or another
/// one.
std::string message_of(ErrorCode code, const std::function<void()>& function);

bool contains(const std::string& text, const std::string& part);

}  // namespace ringshard::testing
