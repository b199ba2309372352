#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "migrator/commands/fleet.hpp"
#include "support/paths.hpp"

namespace ringshard::testing {

/// What one run of a command left behind.
struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// A small fleet of SQLite files in a folder of its own: customers by id with their invoices, and a
/// reference table. Commands are run inside this process, as the program would run them.
class CommandFleet {
 public:
  /// `nodes` are active; the first ones of "a", "b", "c", "d".
  explicit CommandFleet(std::vector<std::string> nodes = {"a", "b"}, int shards = 8);

  const TemporaryFolder& folder() const { return folder_; }

  /// Writes the configuration anew. `more` are further lines at its end.
  void configure(const std::vector<std::string>& nodes, const std::string& more = "");

  /// The arguments separated by spaces; --config is added.
  Ran run(const std::string& arguments) const;

  /// run() that has to end well.
  Ran done(const std::string& arguments) const;

  /// Customers 1 … `count`, each with two invoices, written to the homes that they belong to.
  void fill(int count);

  /// Statements on a home's file, as somebody who goes around ringshard.
  void damage(const std::string& node, int shard, const std::string& sql) const;
  void damage_file(const std::filesystem::path& file, const std::string& sql) const;

  std::filesystem::path home_file(const std::string& node, int shard) const;
  std::string node_of(int shard) const;
  int shard_of(std::int64_t customer) const;
  cli::OpenFleet open() const;

 private:
  TemporaryFolder folder_;
  int shards_;
};

/// Every file below a folder with its content.
std::map<std::string, std::string> contents_of(const std::filesystem::path& folder);

}  // namespace ringshard::testing
