// Several processes write and read one fleet while its shards move forward, back and forward again.

#include <memory>
#include <vector>

#include "migrator/proof/bank_fleet.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {

TEST_CASE(
    "three processes never read older than acknowledged over moves, their rollback and moves "
    "again") {
  const BankFleet bank(
      {.shards = 16, .accounts = 300, .nodes = {"a", "b", "c"}, .move = "concurrency: 2"});
  std::vector<Application> applications;
  for (int i = 0; i < 3; ++i) applications.emplace_back(bank, i, 3);
  bank.wait_for_more(1000);

  bank.fleet.configure({"a", "b", "c", "d"});
  const auto forward = bank.fleet.done({"apply"});
  const std::size_t moves = forward["moves"].size();
  CHECK(moves == 4);
  CHECK(forward["stages"]["observing"] == moves);
  bank.wait_for_more(1000);

  CHECK(bank.fleet.done({"rollback", "--all"})["stages"]["rolled_back"] == moves);
  bank.wait_for_more(1000);

  CHECK(bank.fleet.done({"apply"})["stages"]["observing"] == moves);
  bank.wait_for_more(1000);
  CHECK(bank.fleet.done({"finalize", "--all"})["stages"]["done"] == moves);
  bank.wait_for_more(1000);

  std::int64_t writes = 0;
  std::int64_t mirrored = 0;
  std::int64_t redirected = 0;
  for (Application& application : applications) {
    const auto report = application.stop();
    require_unharmed(report);
    writes += report["writes"].get<std::int64_t>();
    mirrored += report["mirror_writes"].get<std::int64_t>();
    redirected += report["redirects"].get<std::int64_t>();
  }
  CHECK(writes == bank.acknowledged());
  CHECK(mirrored > 0);
  CHECK(redirected > 0);
  bank.require_audited();
  bank.fleet.require_sound();
  CHECK(bank.fleet.homes({"a", "b", "c", "d"}).size() == 16);
}

}  // namespace ringshard::testing
