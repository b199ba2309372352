// Plan, apply and what can be done with moves, through the commands.

#include <algorithm>
#include <ringshard/error.hpp>
#include <string>

#include "cli/fleet.hpp"
#include "support/catch.hpp"
#include "support/fault.hpp"

using namespace ringshard;
using ringshard::testing::CommandFleet;
using ringshard::testing::contents_of;
using ringshard::testing::Ran;

namespace {

/// Throws at a fault point, once, as long as it lives.
class FailOnce {
 public:
  explicit FailOnce(FaultPoint at) {
    fault::set_handler([at, done = false](FaultPoint point) mutable {
      if (point != at || done) return;
      done = true;
      throw Error(ErrorCode::unavailable, "broken off by the test");
    });
  }
  ~FailOnce() { fault::set_handler({}); }
  FailOnce(const FailOnce&) = delete;
  FailOnce& operator=(const FailOnce&) = delete;
};

std::int64_t rows_of(const CommandFleet& fleet) {
  return fleet.done("verify --json").json()["rows"].get<std::int64_t>();
}

}  // namespace

TEST_CASE("a plan says who moves where and changes nothing") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"});
  const auto before = contents_of(fleet.folder().path());
  const auto plan = fleet.done("plan --json").json();
  CHECK(contents_of(fleet.folder().path()) == before);
  CHECK(plan["changes"] == nlohmann::json::array({"node 'c' joins"}));
  CHECK(plan["share_moved"] == plan["least_share"]);
  CHECK(plan["balance_after"].get<double>() < plan["balance_before"].get<double>());
  REQUIRE_FALSE(plan["moves"].empty());
  for (const auto& move : plan["moves"]) {
    CHECK(move["target"] == "c");
    CHECK(move["bytes"].get<std::int64_t>() > 0);
  }
  CHECK(fleet.done("plan").out.find("theoretical least") != std::string::npos);
}

TEST_CASE("apply runs exactly the plan and nothing is lost") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"});
  const auto file = (fleet.folder() / "plan.json").string();
  const auto plan = fleet.done("plan --json --out " + file).json();
  const auto report = fleet.done("apply --json --observe-for 0s --plan " + file).json();
  CHECK(report["plan"] == plan["id"]);
  CHECK(report["stages"]["done"] == plan["moves"].size());
  CHECK(report["pause_us"]["count"] == plan["moves"].size());
  CHECK(report["rows_copied"] == plan["rows"]);
  for (const auto& move : plan["moves"]) CHECK(fleet.node_of(move["shard"].get<int>()) == "c");
  CHECK(rows_of(fleet) == 120);
  CHECK(fleet.done("doctor").out.find("clean") != std::string::npos);

  const auto again = fleet.run("apply --json --plan " + file);
  CHECK(again.exit_code == 1);
  CHECK(again.json()["error"]["code"] == "stale_plan");
  CHECK(again.json()["error"]["message"].get<std::string>().find(
            "now the keyspace is at version") != std::string::npos);
  CHECK(fleet.done("apply").out.find("nothing to move") != std::string::npos);
}

TEST_CASE("moves are observed until they are finalized or rolled back") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"});
  const auto report = fleet.done("apply --json --observe-for 1h").json();
  REQUIRE(report["moves"].size() >= 2);
  CHECK(report["stages"]["observing"] == report["moves"].size());
  CHECK(fleet.done("doctor").exit_code == 0);
  const auto status = fleet.done("status").out;
  CHECK(status.find("mirrors every write back") != std::string::npos);

  const std::string first = report["moves"][0]["id"];
  const int shard = report["moves"][0]["shard"];
  const std::string source = report["moves"][0]["source"];
  const auto aborted = fleet.run("abort --json " + first);
  CHECK(aborted.exit_code == 1);
  CHECK(aborted.json()["error"]["message"].get<std::string>().find("`ringshard rollback`") !=
        std::string::npos);

  const auto verified = fleet.done("verify --json --move " + first.substr(0, 8)).json();
  CHECK(verified["moves"]["compared"] == 1);
  CHECK(verified["verdict"] == "verified");

  CHECK(fleet.done("rollback --json " + first).json()["stages"]["rolled_back"] == 1);
  CHECK(fleet.node_of(shard) == source);
  const auto finalized = fleet.done("finalize --all --json").json();
  CHECK(finalized["stages"]["done"] == report["moves"].size() - 1);
  CHECK(fleet.done("doctor").exit_code == 0);
  CHECK(rows_of(fleet) == 120);
  // Asking for what was reached already is no mistake; asking for its opposite is.
  CHECK(fleet.run("rollback " + first).exit_code == 0);
  CHECK(fleet.run("finalize " + first).exit_code == 1);
  CHECK(fleet.done("finalize --all").out.find("no unfinished move") != std::string::npos);
}

TEST_CASE("a move that failed does not stop the others and resume finishes it") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"});
  Ran ran;
  {
    const FailOnce fail(FaultPoint::backfill_chunk_written);
    ran = fleet.run("apply --json --observe-for 0s");
  }
  CHECK(ran.exit_code == 75);
  const auto report = ran.json();
  CHECK(report["stages"]["backfilling"] == 1);
  CHECK(report["stages"]["done"] == report["moves"].size() - 1);
  const auto doctor = fleet.run("doctor --json");
  CHECK(doctor.exit_code == 3);
  const auto finding = doctor.json()["findings"][0];
  CHECK(finding["kind"] == "half_move");
  CHECK(finding["command"] == "ringshard resume " + finding["move"].get<std::string>());
  fleet.configure({"a", "b", "c"}, "move: {observe_for: 0s}\n");
  CHECK(fleet.done("resume --json").json()["stages"]["done"] == 1);
  CHECK(fleet.done("doctor").exit_code == 0);
  CHECK(rows_of(fleet) == 120);
}

TEST_CASE("a paused move waits for resume and an aborted one leaves nothing") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"});
  {
    const FailOnce fail(FaultPoint::after_verifying);
    CHECK(fleet.run("apply --observe-for 0s").exit_code == 75);
  }
  const auto paused = fleet.done("pause --all --json").json();
  REQUIRE(paused["moves"].size() == 1);
  CHECK(paused["moves"][0]["wish"] == "pause");
  const std::string id = paused["moves"][0]["id"];
  CHECK(fleet.done("status --move " + id).out.find("wish: pause") != std::string::npos);
  CHECK(fleet.run("rollback " + id).exit_code == 1);
  const auto aborted = fleet.done("abort --json " + id).json();
  CHECK(aborted["stages"]["reverted"] == 1);
  CHECK(fleet.done("doctor").exit_code == 0);
  CHECK(rows_of(fleet) == 120);
}

TEST_CASE("a node with shards may not vanish from the configuration and is drained instead") {
  CommandFleet fleet({"a", "b", "c"});
  fleet.fill(40);
  fleet.configure({"a", "b"});
  const auto before = contents_of(fleet.folder().path());
  const auto refused = fleet.run("plan --json");
  CHECK(refused.exit_code == 1);
  CHECK(refused.json()["error"]["message"].get<std::string>().find("state: draining") !=
        std::string::npos);
  CHECK(contents_of(fleet.folder().path()) == before);

  fleet.configure({"a", "b", "c:draining"});
  fleet.done("apply --observe-for 0s");
  fleet.configure({"a", "b"});
  const auto plan = fleet.done("plan --json").json();
  CHECK(plan["moves"].empty());
  CHECK(plan["changes"] == nlohmann::json::array({"node 'c' is removed"}));
  fleet.done("apply");
  const auto status = fleet.done("status --json").json();
  for (const auto& node : status["nodes"])
    if (node["name"] == "c") CHECK(node["state"] == "removed");
  CHECK(rows_of(fleet) == 120);
}

TEST_CASE("events tell what happened") {
  CommandFleet fleet;
  fleet.configure({"a", "b", "c"});
  fleet.done("apply --observe-for 0s");
  const auto events = fleet.done("events --json --limit 1000").json()["events"];
  const auto has = [&](const std::string& text) {
    return std::any_of(events.begin(), events.end(), [&](const auto& event) {
      return event["text"].template get<std::string>().find(text) != std::string::npos;
    });
  };
  CHECK(has("started"));
  CHECK(has("cleaning -> done"));
}
