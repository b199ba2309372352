#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/paths.hpp"
#include "support/process.hpp"

namespace ringshard::testing {

/// A fleet of SQLite nodes in a folder of its own, driven as an operator drives it: a configuration
/// file and the real program, a process for each command. A node is the directory of its name in
/// that folder.
class ProgramFleet {
 public:
  /// `keyspace` are the lines of that section, `settings` whole further sections.
  ProgramFleet(std::string keyspace, std::string settings);

  const TemporaryFolder& folder() const noexcept { return folder_; }
  std::filesystem::path config_file() const { return folder_ / "ringshard.yaml"; }
  std::filesystem::path node(const std::string& name) const { return folder_ / name; }

  /// Writes the configuration anew. A node may be written "a:draining".
  void configure(const std::vector<std::string>& nodes) const;

  /// The arguments of the program: these, and --config.
  std::vector<std::string> arguments(std::vector<std::string> command) const;

  /// Runs a command to its end, whatever that is.
  ProcessResult run(const std::vector<std::string>& command,
                    const std::map<std::string, std::string>& environment = {}) const;

  /// Runs a command that has to end with 0, and returns its JSON.
  nlohmann::json done(std::vector<std::string> command) const;

  /// `verify` of everything and `doctor` find nothing wrong.
  void require_sound() const;

  /// The files of all shards' homes on all nodes, by name of the home; a home that is there twice
  /// fails the test.
  std::map<std::string, std::filesystem::path> homes(const std::vector<std::string>& nodes) const;

 private:
  TemporaryFolder folder_;
  std::string keyspace_;
  std::string settings_;
};

/// The rows of a query on a file that nobody else knows of, each with the type and the text of
/// every value. Sorted, so that the rows of several files can be put together.
std::vector<std::string> rows_of(const std::filesystem::path& file, const std::string& sql);

/// The JSON that a command printed; the test fails, showing everything, if it is none.
nlohmann::json json_of(const ProcessResult& result);

/// All the errors in the JSON of a command: its own, or those of its moves, one a line:
/// "<code>: <message>".
std::string errors_of(const nlohmann::json& report);

}  // namespace ringshard::testing
