// Processes that die in the middle of a write, and migrators that get in each other's way.

#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "migrator/proof/bank_fleet.hpp"
#include "support/catch.hpp"
#include "support/fault.hpp"

namespace ringshard::testing {
namespace {

constexpr std::chrono::seconds patience(60);

/// One shard that leaves its node, so that every write meets the move.
BankOptions one_shard() { return {.shards = 1, .accounts = 60, .nodes = {"a"}}; }

/// Two routers write; one of them is killed in the middle of a write that is being mirrored. The
/// other one goes on.
void kill_a_router(const BankFleet& bank, FaultPoint point) {
  Application survivor(bank, 0, 2);
  Application victim(bank, 1, 2, std::string(to_string(point)) + "@50=kill");
  const auto killed = victim.process().wait_for(patience);
  REQUIRE(killed.has_value());
  INFO(killed->out << killed->err);
  REQUIRE(killed->signal == SIGKILL);
  bank.wait_for_more(50);
  const auto report = survivor.stop();
  require_unharmed(report);
  CHECK(report["mirror_writes"] > 0);
}

void survive_router(FaultPoint point) {
  INFO("a router is killed at " << to_string(point));
  const BankFleet bank(one_shard());
  bank.fleet.configure({"a:draining", "b"});

  // In the first leg: capture is on, the source owns.
  Process migrator = bank.start({"apply", "--json"}, "after_backfilling=stop");
  REQUIRE(migrator.stopped_within(patience));
  kill_a_router(bank, point);
  migrator.send(SIGCONT);
  const auto applied = migrator.wait_for(patience);
  REQUIRE(applied.has_value());
  {
    INFO(applied->out << applied->err);
    REQUIRE(applied->exit_code == 0);
  }
  bank.require_audited();

  // In the second leg: the target owns, the source is its mirror. No migrator runs.
  CHECK(json_of(*applied)["stages"]["observing"] == 1);
  kill_a_router(bank, point);
  bank.require_audited();
  CHECK(bank.fleet.done({"verify"})["verdict"] == "verified");
  CHECK(bank.fleet.done({"rollback", "--all"})["stages"]["rolled_back"] == 1);
  bank.require_audited();
  CHECK(bank.fleet.done({"doctor"})["findings"].empty());
}

/// How often each move was taken to each stage, by the audit log.
std::map<std::string, int> stages_entered(const BankFleet& bank) {
  std::map<std::string, int> entered;
  for (const auto& event : bank.fleet.done({"events", "--limit", "10000"})["events"]) {
    const auto text = event["text"].get<std::string>();
    if (text.find(" -> ") != std::string::npos) ++entered[event["move"].get<std::string>() + text];
  }
  return entered;
}

}  // namespace

TEST_CASE("a router killed before its write ran takes nothing with it") {
  survive_router(FaultPoint::write_locked);
}

TEST_CASE("a router killed between its commit and the mirror's loses nothing") {
  survive_router(FaultPoint::write_committed);
}

TEST_CASE("a router killed after both commits and before it acknowledged loses nothing") {
  survive_router(FaultPoint::write_mirrored);
}

TEST_CASE("of two migrators that apply one plan at once, one runs it and one says why not") {
  const BankFleet bank;
  bank.fleet.configure({"a", "b", "c"});
  const std::string file = (bank.fleet.folder() / "plan.json").string();
  const auto plan = bank.fleet.done({"plan", "--out", file});
  Process first = bank.start({"apply", "--json", "--plan", file});
  Process second = bank.start({"apply", "--json", "--plan", file});
  std::multiset<int> codes;
  for (Process* migrator : {&first, &second}) {
    const auto ended = migrator->wait_for(patience);
    REQUIRE(ended.has_value());
    INFO(ended->out << ended->err);
    codes.insert(ended->exit_code);
    const auto report = json_of(*ended);
    if (ended->exit_code == 0)
      CHECK(report["stages"]["observing"] == plan["moves"].size());
    else
      CHECK(report["error"]["code"] == "stale_plan");
  }
  CHECK(codes == std::multiset<int>{0, 1});
  bank.fleet.require_sound();
  bank.fleet.done({"finalize", "--all"});
  bank.fleet.require_sound();
}

TEST_CASE("a second migrator leaves the move that another one runs alone and runs the others") {
  const BankFleet bank;
  Application application(bank);
  bank.wait_for_more(20);
  bank.fleet.configure({"a", "b", "c"});
  Process first = bank.start({"apply", "--json"}, "after_backfilling=stop");
  REQUIRE(first.stopped_within(patience));

  const ProcessResult second = bank.fleet.run({"resume", "--json"});
  INFO("the second: " << second.out << second.err);
  CHECK(second.exit_code == 75);
  const auto taken = json_of(second);
  CHECK(errors_of(taken).starts_with("lease_lost: "));
  CHECK(taken["stages"]["backfilling"] == 1);
  CHECK(taken["stages"]["observing"] == taken["moves"].size() - 1);

  first.send(SIGCONT);
  const auto ended = first.wait_for(patience);
  REQUIRE(ended.has_value());
  INFO("the first: " << ended->out << ended->err);
  CHECK(ended->exit_code == 0);
  CHECK(json_of(*ended)["stages"]["observing"] == taken["moves"].size());
  bank.fleet.done({"finalize", "--all"});
  require_unharmed(application.stop());
  bank.require_audited();
  bank.fleet.require_sound();
}

TEST_CASE("migrators that resume the same moves at once bring each to its end once") {
  const BankFleet bank({.shards = 8, .move = "concurrency: 2"});
  Application application(bank);
  bank.wait_for_more(20);
  bank.fleet.configure({"a", "b", "c", "d"});
  Process first = bank.start({"apply", "--json"}, "after_mirroring=stop");
  REQUIRE(first.stopped_within(patience));
  Process second = bank.start({"resume", "--json"});
  Process third = bank.start({"resume", "--json"});
  first.send(SIGCONT);
  for (Process* migrator : {&first, &second, &third}) {
    const auto ended = migrator->wait_for(patience);
    REQUIRE(ended.has_value());
    INFO(ended->out << ended->err);
    const auto report = json_of(*ended);
    CHECK((ended->exit_code == 0 || ended->exit_code == 75));
    if (ended->exit_code == 75) CHECK(errors_of(report).find("lease_lost") != std::string::npos);
  }
  bank.fleet.done({"resume"});
  bank.fleet.done({"finalize", "--all"});
  for (const auto& [stage, times] : stages_entered(bank)) {
    INFO(stage);
    CHECK(times == 1);
  }
  require_unharmed(application.stop());
  bank.require_audited();
  bank.fleet.require_sound();
}

}  // namespace ringshard::testing
