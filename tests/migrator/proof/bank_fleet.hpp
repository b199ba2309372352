#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "migrator/proof/program_fleet.hpp"

namespace ringshard::testing {

struct BankOptions {
  int shards = 6;
  int accounts = 200;
  int history = 20;  ///< old entries of each account, some 60 bytes each
  std::vector<std::string> nodes = {"a", "b"};
  std::string move = "concurrency: 1";  ///< more of the section move
};

/// A fleet with the accounts of ringshard-demo, and the ledger in which its processes keep what was
/// acknowledged.
///
///     BankFleet bank;
///     Application application(bank);
///     application.wait_for_more(100);
///     bank.fleet.configure({"a", "b", "c"});
///     bank.fleet.done({"apply"});
///     require_unharmed(application.stop());
///     bank.require_audited();
struct BankFleet {
  explicit BankFleet(const BankOptions& options = {});

  const BankOptions options;
  const ProgramFleet fleet;

  std::filesystem::path ledger() const { return fleet.folder() / "ledger"; }

  /// Writes acknowledged so far to all processes together.
  std::int64_t acknowledged() const;

  /// Returns when so many more writes were acknowledged; fails the test if they never are.
  void wait_for_more(std::int64_t writes) const;

  /// Every account is held against the ledger: nothing acknowledged is lost, nothing is there that
  /// nobody wrote, and the history is whole. Nobody may be writing.
  void require_audited() const;

  /// The migrator, started and not waited for.
  Process start(const std::vector<std::string>& command, const std::string& fault = "") const;

  std::vector<std::string> demo_arguments(std::vector<std::string> command) const;
};

/// A process of ringshard-demo that writes and reads until it is told to stop.
class Application {
 public:
  /// `process` of `processes`: the accounts are divided among them. `fault` is RINGSHARD_FAULT.
  explicit Application(const BankFleet& bank, int process = 0, int processes = 1,
                       const std::string& fault = "");

  /// Lets it end in good order and returns its report.
  nlohmann::json stop();

  Process& process() { return *process_; }

 private:
  std::unique_ptr<Process> process_;
};

/// No write and no read failed, no read was older than what was acknowledged before it began, and
/// none saw what can not be.
void require_unharmed(const nlohmann::json& report);

}  // namespace ringshard::testing
