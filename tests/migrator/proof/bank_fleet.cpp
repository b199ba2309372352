#include "migrator/proof/bank_fleet.hpp"

#include <signal.h>

#include <chrono>
#include <cstring>

#include "support/catch.hpp"
#include "support/clock.hpp"

namespace ringshard::testing {
namespace {

std::string keyspace_text(const BankOptions& options) {
  const auto schema = tests_folder().parent_path() / "schemas" / "example" / "bank.sql";
  return "  name: bank\n  key: int64\n  shards: " + std::to_string(options.shards) +
         "\n  schema: '" + schema.string() +
         "'\n  tables:\n"
         "    - {name: account, key: id}\n"
         "    - {name: entry, key: account_id}\n"
         "    - {name: last_seen, key: account_id}\n";
}

/// The lease is longer than any test: who is stopped on purpose is not taken for dead.
std::string settings_text(const BankOptions& options) {
  return "sqlite: {synchronous: normal}\n"
         "router: {poll_interval: 100ms}\n"
         "move: {chunk_rows: 500, lease: 10m, observe_for: 1h, " +
         options.move + "}\n";
}

}  // namespace

BankFleet::BankFleet(const BankOptions& chosen)
    : options(chosen), fleet(keyspace_text(chosen), settings_text(chosen)) {
  fleet.configure(options.nodes);
  fleet.done({"init"});
  const ProcessResult seeded = run_process(
      demo_program(), demo_arguments({"seed", "--history", std::to_string(options.history)}));
  INFO(seeded.out << seeded.err);
  REQUIRE(seeded.exit_code == 0);
}

std::vector<std::string> BankFleet::demo_arguments(std::vector<std::string> command) const {
  command.insert(command.begin(), {"--config", fleet.config_file().string(), "--accounts",
                                   std::to_string(options.accounts)});
  return command;
}

std::int64_t BankFleet::acknowledged() const {
  if (!std::filesystem::exists(ledger())) return 0;
  const std::string bytes = read_file(ledger());
  // Two numbers for each account; the second is what was acknowledged.
  std::int64_t sum = 0;
  for (std::size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    std::int64_t number = 0;
    std::memcpy(&number, bytes.data() + at + 8, sizeof number);
    sum += number;
  }
  return sum;
}

void BankFleet::wait_for_more(std::int64_t writes) const {
  const std::int64_t wanted = acknowledged() + writes;
  const Deadline limit = Deadline::after(system_clock(), std::chrono::seconds(60));
  while (acknowledged() < wanted) {
    INFO("the application's writes do not go on");
    REQUIRE_FALSE(limit.passed(system_clock()));
    system_clock().sleep_for(std::chrono::milliseconds(2));
  }
}

void BankFleet::require_audited() const {
  const ProcessResult result =
      run_process(demo_program(), demo_arguments({"audit", "--ledger", ledger().string()}));
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  const nlohmann::json report = json_of(result);
  CHECK(report["accounts"] == options.accounts);
  CHECK(report["acknowledged"] == acknowledged());
  CHECK(report["acknowledged_lost"] == 0);
  CHECK(report["never_issued"] == 0);
  CHECK(report["inconsistent"] == 0);
  CHECK(report["missing_accounts"] == 0);
  CHECK(report["history_rows"] == options.accounts * options.history);
}

Process BankFleet::start(const std::vector<std::string>& command, const std::string& fault) const {
  return Process(ringshard_program(), fleet.arguments(command), {{"RINGSHARD_FAULT", fault}});
}

Application::Application(const BankFleet& bank, int process, int processes,
                         const std::string& fault)
    : process_(std::make_unique<Process>(
          demo_program(),
          bank.demo_arguments({"run", "--ledger", bank.ledger().string(), "--writers", "2",
                               "--readers", "2", "--process", std::to_string(process),
                               "--processes", std::to_string(processes), "--seed",
                               std::to_string(process + 1), "--think-us", "1000"}),
          std::map<std::string, std::string>{{"RINGSHARD_FAULT", fault}})) {}

nlohmann::json Application::stop() {
  process_->send(SIGTERM);
  const auto result = process_->wait_for(std::chrono::seconds(60));
  REQUIRE(result.has_value());
  INFO(result->out << result->err);
  CHECK(result->exit_code == 0);
  return json_of(*result);
}

void require_unharmed(const nlohmann::json& report) {
  INFO(report.dump(2));
  CHECK(report["writes"] > 0);
  CHECK(report["writes_failed"] == 0);
  CHECK(report["writes_unknown"] == 0);
  CHECK(report["reads"] > 0);
  CHECK(report["reads_failed"] == 0);
  CHECK(report["stale_reads"] == 0);
  CHECK(report["impossible_reads"] == 0);
}

}  // namespace ringshard::testing
