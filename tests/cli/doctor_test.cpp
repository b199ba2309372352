// Each thing that the doctor finds, made for real and mended.

#include <filesystem>
#include <ringshard/error.hpp>
#include <string>

#include "cli/fleet.hpp"
#include "support/catch.hpp"
#include "support/fault.hpp"

using namespace ringshard;
using ringshard::testing::CommandFleet;
using ringshard::testing::Ran;
using ringshard::testing::read_file;

namespace fs = std::filesystem;

namespace {

/// The kinds of findings, each once, in order.
std::vector<std::string> kinds(const nlohmann::json& report) {
  std::vector<std::string> found;
  for (const auto& finding : report["findings"])
    if (found.empty() || found.back() != finding["kind"]) found.push_back(finding["kind"]);
  return found;
}

nlohmann::json examined(const CommandFleet& fleet) {
  const Ran ran = fleet.run("doctor --json");
  INFO(ran.out << ran.err);
  nlohmann::json report = ran.json();
  CHECK(ran.exit_code == (report["clean"] == true ? 0 : 3));
  for (const auto& finding : report["findings"])
    CHECK(finding["command"].get<std::string>().rfind("ringshard ", 0) == 0);
  return report;
}

void check_mended(const CommandFleet& fleet) {
  const Ran ran = fleet.run("doctor --mend --json");
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_FALSE(ran.json()["mended"].empty());
  CHECK(examined(fleet)["clean"] == true);
}

using Kinds = std::vector<std::string>;

/// One shard's cutover is decided and not told to the new owner.
Ran apply_up_to_a_decision(CommandFleet& fleet) {
  fleet.fill(20);
  fleet.configure({"a", "b", "c"}, "move: {observe_for: 0s}\n");
  fault::set_handler([done = false](FaultPoint point) mutable {
    if (point != FaultPoint::cutover_decided || done) return;
    done = true;
    throw Error(ErrorCode::unavailable, "broken off by the test");
  });
  Ran applied = fleet.run("apply");
  fault::set_handler({});
  return applied;
}

}  // namespace

TEST_CASE("a fleet where nothing is wrong is clean") {
  CommandFleet fleet;
  fleet.fill(20);
  const Ran ran = fleet.done("doctor");
  CHECK(ran.out.find("\nclean\n") != std::string::npos);
  CHECK(fleet.done("doctor --mend --json").json()["mended"].empty());
}

TEST_CASE("misplaced rows are brought home with their children") {
  CommandFleet fleet;
  fleet.fill(20);
  const int right = fleet.shard_of(1000);
  const int wrong = (right + 1) % 8;
  fleet.damage(fleet.node_of(wrong), wrong,
               "INSERT INTO customer VALUES (1000, 'lost', 1);"
               "INSERT INTO invoice VALUES (5000, 1000, 1.0), (5001, 1000, 2.0)");
  const auto report = examined(fleet);
  CHECK(kinds(report) == Kinds{"misplaced_rows"});
  check_mended(fleet);
  CHECK(fleet.done("verify --json").json()["rows"] == 63);
  CHECK(fleet.done("verify --json --shard " + std::to_string(right)).json()["rows"].get<int>() >=
        3);
}

TEST_CASE("a misplaced row that is at its home already is only removed") {
  CommandFleet fleet;
  fleet.fill(20);
  const int wrong = (fleet.shard_of(1) + 1) % 8;
  fleet.damage(fleet.node_of(wrong), wrong, "INSERT INTO customer VALUES (1, 'customer 1', 1)");
  CHECK(kinds(examined(fleet)) == Kinds{"misplaced_rows"});
  check_mended(fleet);
  CHECK(fleet.done("verify --json").json()["rows"] == 60);
}

TEST_CASE("a misplaced row is left alone where another row has its primary key") {
  CommandFleet fleet;
  fleet.fill(20);
  const int wrong = (fleet.shard_of(1) + 1) % 8;
  fleet.damage(fleet.node_of(wrong), wrong, "INSERT INTO customer VALUES (1, 'another', 1)");
  const Ran ran = fleet.run("doctor --mend --json");
  CHECK(ran.exit_code == 3);
  const auto finding = ran.json()["findings"][0];
  CHECK(finding["failure"].get<std::string>().find("a different row has that primary key") !=
        std::string::npos);
  CHECK(kinds(examined(fleet)) == Kinds{"misplaced_rows"});
}

TEST_CASE("rows without a parent are named and not touched") {
  CommandFleet fleet;
  fleet.fill(20);
  fleet.damage(fleet.node_of(0), 0, "INSERT INTO invoice VALUES (777, 1000, 1.0)");
  CHECK(kinds(examined(fleet)) == Kinds{"keyless_rows"});
  CHECK(fleet.run("doctor --mend").exit_code == 3);
}

TEST_CASE("a mirror that a finished move left behind is dropped") {
  CommandFleet fleet;
  fleet.fill(20);
  fleet.configure({"a", "b", "c"});
  const auto move = fleet.done("apply --json --observe-for 1h").json()["moves"][0];
  const fs::path old_home = fleet.home_file(move["source"], move["shard"]);
  const fs::path kept = fleet.folder() / "kept.db";
  fs::copy_file(old_home, kept);
  fleet.done("finalize --all");
  fs::copy_file(kept, old_home);
  const auto report = examined(fleet);
  CHECK(kinds(report) == Kinds{"leftover_home"});
  CHECK(report["findings"][0]["node"] == move["source"]);
  check_mended(fleet);
  CHECK_FALSE(fs::exists(old_home));
}

TEST_CASE("capture that a finished move left behind is removed") {
  CommandFleet fleet;
  fleet.fill(20);
  fleet.configure({"a", "b", "c"});
  const auto move = fleet.done("apply --json --observe-for 1h").json()["moves"][0];
  const fs::path home = fleet.home_file("c", move["shard"]);
  const fs::path kept = fleet.folder() / "kept.db";
  fs::copy_file(home, kept);
  fleet.done("finalize --all");
  fs::copy_file(kept, home, fs::copy_options::overwrite_existing);
  CHECK(kinds(examined(fleet)) == Kinds{"capture_left"});
  check_mended(fleet);
  CHECK(fleet.done("verify --json").json()["rows"] == 60);
}

TEST_CASE("two owners of one shard are named and neither is touched") {
  CommandFleet fleet;
  fleet.fill(20);
  const std::string owner = fleet.node_of(2);
  const std::string other = owner == "a" ? "b" : "a";
  fs::copy_file(fleet.home_file(owner, 2), fleet.home_file(other, 2));
  CHECK(kinds(examined(fleet)) == Kinds{"two_owners"});
  CHECK(fleet.run("doctor --mend").exit_code == 3);
  CHECK(fs::exists(fleet.home_file(owner, 2)));
  CHECK(fs::exists(fleet.home_file(other, 2)));
}

TEST_CASE("a home that is gone is named") {
  CommandFleet fleet;
  fs::remove(fleet.home_file(fleet.node_of(2), 2));
  const auto report = examined(fleet);
  CHECK(kinds(report) == Kinds{"missing_home"});
  CHECK(report["findings"][0]["shard"] == 2);
}

TEST_CASE("a home under another shard's name is named") {
  CommandFleet fleet({"a"});
  fs::copy_file(fleet.home_file("a", 2), fleet.home_file("a", 3),
                fs::copy_options::overwrite_existing);
  const auto report = examined(fleet);
  REQUIRE_FALSE(report["findings"].empty());
  CHECK(report["findings"][0]["shard"] == 3);
}

TEST_CASE("a handover that was decided and not told is promoted") {
  CommandFleet fleet;
  CHECK(apply_up_to_a_decision(fleet).exit_code == 75);
  CHECK(kinds(examined(fleet)) == Kinds{"half_move", "handover_not_promoted"});
  const Ran mended = fleet.run("doctor --mend --json");
  CHECK(mended.exit_code == 3);
  CHECK(kinds(mended.json()) == Kinds{"half_move"});
  CHECK(mended.json()["mended"][0]["kind"] == "handover_not_promoted");
  fleet.done("resume");
  CHECK(examined(fleet)["clean"] == true);
  CHECK(fleet.done("verify --json").json()["rows"] == 60);
}

TEST_CASE("a copy that is older than what was handed over to is named and not promoted") {
  CommandFleet fleet;
  apply_up_to_a_decision(fleet);
  int shard = -1;
  const nlohmann::json before = examined(fleet);
  for (const auto& finding : before["findings"])
    if (finding["kind"] == "handover_not_promoted") shard = finding["shard"];
  REQUIRE(shard >= 0);
  fleet.damage("c", shard, "UPDATE ringshard_home SET certificate = 'of another attempt'");
  CHECK(kinds(fleet.run("doctor --mend --json").json()) ==
        Kinds{"half_move", "copy_not_certified"});
  CHECK(fleet.run("resume").exit_code != 0);
}

TEST_CASE("a placement that fell behind is set to the one owner") {
  CommandFleet fleet;
  fleet.fill(20);
  fleet.configure({"a", "b", "c"});
  // The catalog knows the node but not yet where the shards went: a backup from before the moves.
  const fs::path catalog = fleet.folder() / "catalog.db";
  fleet.done("plan");
  fleet.done("apply --max-moves 0");
  fs::copy_file(catalog, fleet.folder() / "backup.db");
  fleet.done("apply --observe-for 0s");
  fs::copy_file(fleet.folder() / "backup.db", catalog, fs::copy_options::overwrite_existing);
  CHECK(kinds(examined(fleet)) == Kinds{"placement_behind"});
  check_mended(fleet);
  CHECK(fleet.done("verify --json").json()["rows"] == 60);
}

TEST_CASE("reference homes that differ are made equal to that of a node") {
  CommandFleet fleet({"a", "b", "c"});
  for (const char* node : {"a", "b", "c"})
    fleet.damage_file(fleet.folder().path() / node / "shop_reference.db",
                      "INSERT INTO genre VALUES (1, 'Rock'), (2, 'Jazz')");
  fleet.damage_file(fleet.folder().path() / "b" / "shop_reference.db",
                    "DELETE FROM genre WHERE id = 1; INSERT INTO genre VALUES (9, 'Noise');"
                    "UPDATE genre SET name = 'jazz' WHERE id = 2");
  const auto report = examined(fleet);
  CHECK(kinds(report) == Kinds{"reference_differs"});
  CHECK(report["findings"][0]["node"] == "b");
  const std::string command = report["findings"][0]["command"];
  REQUIRE(command.rfind("ringshard doctor --reference-from ", 0) == 0);
  fleet.done(command.substr(std::string("ringshard ").size()));
  CHECK(examined(fleet)["clean"] == true);
  CHECK(fleet.run("doctor --reference-from z").exit_code == 1);
}

TEST_CASE("a node that is gone is said once and not taken for lost homes") {
  CommandFleet fleet;
  fleet.fill(20);
  fs::remove_all(fleet.folder().path() / "b");
  const auto report = examined(fleet);
  CHECK(report["clean"] == false);
  CHECK(fleet.run("doctor --mend").exit_code == 3);
}
