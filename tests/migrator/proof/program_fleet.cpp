#include "migrator/proof/program_fleet.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "support/catch.hpp"

namespace ringshard::testing {

namespace fs = std::filesystem;

namespace {

std::string described(const ProcessResult& result) {
  return "exit code " + std::to_string(result.exit_code) + ", signal " +
         std::to_string(result.signal) + "\n" + result.out + result.err;
}

std::string value_text(sqlite3_stmt* statement, int column) {
  static constexpr const char* types[] = {"", "integer", "real", "text", "blob", "null"};
  const int type = sqlite3_column_type(statement, column);
  const void* bytes = sqlite3_column_blob(statement, column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  std::string text = types[type];
  text += ' ';
  if (bytes != nullptr) text.append(static_cast<const char*>(bytes), size);
  return text;
}

}  // namespace

ProgramFleet::ProgramFleet(std::string keyspace, std::string settings)
    : keyspace_(std::move(keyspace)), settings_(std::move(settings)) {}

void ProgramFleet::configure(const std::vector<std::string>& nodes) const {
  std::string text = "catalog: sqlite:catalog.db\nkeyspace:\n" + keyspace_ + "nodes:\n";
  for (const std::string& node : nodes) {
    const auto colon = node.find(':');
    const std::string name = node.substr(0, colon);
    text += "  - {name: " + name + ", dsn: 'sqlite:" + name + "'";
    if (colon != std::string::npos) text += ", state: " + node.substr(colon + 1);
    text += "}\n";
  }
  folder_.write("ringshard.yaml", text + settings_);
}

std::vector<std::string> ProgramFleet::arguments(std::vector<std::string> command) const {
  command.insert(command.end(), {"--config", config_file().string()});
  return command;
}

ProcessResult ProgramFleet::run(const std::vector<std::string>& command,
                                const std::map<std::string, std::string>& environment) const {
  return run_process(ringshard_program(), arguments(command), environment);
}

nlohmann::json ProgramFleet::done(std::vector<std::string> command) const {
  const std::string name = command.front();
  command.emplace_back("--json");
  const ProcessResult result = run(command);
  INFO(name << ": " << described(result));
  REQUIRE(result.exit_code == 0);
  return json_of(result);
}

void ProgramFleet::require_sound() const {
  CHECK(done({"verify"})["verdict"] == "verified");
  CHECK(done({"doctor"})["findings"].empty());
}

std::map<std::string, fs::path> ProgramFleet::homes(const std::vector<std::string>& nodes) const {
  std::map<std::string, fs::path> homes;
  for (const std::string& name : nodes) {
    for (const auto& entry : fs::directory_iterator(node(name))) {
      const std::string file = entry.path().filename().string();
      if (entry.path().extension() != ".db" || file.ends_with("_reference.db")) continue;
      INFO(file << " on node " << name);
      CHECK(homes.emplace(file, entry.path()).second);
    }
  }
  return homes;
}

std::vector<std::string> rows_of(const fs::path& file, const std::string& sql) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
  sqlite3_stmt* prepared = nullptr;
  if (code != SQLITE_OK ||
      sqlite3_prepare_v2(opened, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
    throw std::runtime_error(file.string() + ": " + sqlite3_errmsg(opened));
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  std::vector<std::string> rows;
  int step = 0;
  while ((step = sqlite3_step(prepared)) == SQLITE_ROW) {
    std::string row;
    for (int i = 0; i < sqlite3_column_count(prepared); ++i) row += value_text(prepared, i) + "|";
    rows.push_back(std::move(row));
  }
  if (step != SQLITE_DONE) throw std::runtime_error(file.string() + ": " + sqlite3_errmsg(opened));
  std::sort(rows.begin(), rows.end());
  return rows;
}

nlohmann::json json_of(const ProcessResult& result) {
  INFO(described(result));
  auto json = nlohmann::json::parse(result.out, nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

std::string errors_of(const nlohmann::json& report) {
  std::string errors;
  const auto add = [&](const nlohmann::json& holder) {
    if (!holder.contains("error") || holder["error"].is_null()) return;
    errors += holder["error"]["code"].get<std::string>() + ": " +
              holder["error"]["message"].get<std::string>() + "\n";
  };
  add(report);
  if (report.contains("moves"))
    for (const auto& move : report["moves"]) add(move);
  return errors;
}

}  // namespace ringshard::testing
