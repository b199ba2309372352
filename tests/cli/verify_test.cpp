#include <string>

#include "cli/fleet.hpp"
#include "support/catch.hpp"

using ringshard::testing::CommandFleet;
using ringshard::testing::Ran;

namespace {

std::string all_texts(const nlohmann::json& report) {
  std::string text;
  for (const auto& difference : report["differences"])
    text += difference["text"].get<std::string>() + "\n";
  return text;
}

}  // namespace

TEST_CASE("a fleet without damage is verified with the number of rows that were read") {
  CommandFleet fleet;
  fleet.fill(30);
  const auto report = fleet.done("verify --json").json();
  CHECK(report["verdict"] == "verified");
  CHECK(report["rows"] == 90);
  CHECK(report["shards"] == 8);
  CHECK(report["reference"]["nodes"] == 2);
  CHECK(fleet.done("verify").out.find("\nverified\n") != std::string::npos);
}

TEST_CASE("zero rows checked is not a pass") {
  CommandFleet fleet;
  const Ran ran = fleet.run("verify --json");
  CHECK(ran.exit_code == 3);
  CHECK(ran.json()["rows"] == 0);
  CHECK(ran.json()["verdict"] == "nothing_checked");
  const Ran text = fleet.run("verify");
  CHECK(text.out.find("zero rows were checked: this proves nothing") != std::string::npos);
  CHECK(text.out.find("\nverified") == std::string::npos);
}

TEST_CASE("a sample says its seed and the same seed draws the same shards") {
  CommandFleet fleet;
  fleet.fill(40);
  const auto report = fleet.done("verify --json --sample 25%").json();
  CHECK(report["shards"] == 2);
  CHECK(report["scope"] == "a sample of 2 of 8 shards");
  const auto again =
      fleet.done("verify --json --sample 25% --seed " + report["seed"].dump()).json();
  CHECK(again["tables"] == report["tables"]);
  CHECK(fleet.done("verify --json --sample 100%").json()["rows"] == 120);
}

TEST_CASE("one shard can be verified and an unknown one is named") {
  CommandFleet fleet;
  fleet.fill(30);
  const auto report =
      fleet.done("verify --json --shard " + std::to_string(fleet.shard_of(1))).json();
  CHECK(report["shards"] == 1);
  const Ran unknown = fleet.run("verify --json --shard 8");
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.json()["error"]["message"].get<std::string>().find("8") != std::string::npos);
}

TEST_CASE("a row that belongs to another shard is found") {
  CommandFleet fleet;
  fleet.fill(30);
  const int wrong = (fleet.shard_of(1000) + 1) % 8;
  fleet.damage(fleet.node_of(wrong), wrong, "INSERT INTO customer VALUES (1000, 'lost', 1)");
  const Ran ran = fleet.run("verify --json");
  CHECK(ran.exit_code == 3);
  CHECK(ran.json()["verdict"] == "differences");
  CHECK(all_texts(ran.json())
            .find("its key 1000 belongs to shard " + std::to_string(fleet.shard_of(1000))) !=
        std::string::npos);
}

TEST_CASE("a row whose parent is elsewhere is found") {
  CommandFleet fleet;
  fleet.fill(30);
  fleet.damage(fleet.node_of(0), 0, "INSERT INTO invoice VALUES (777, 1000, 1.0)");
  const Ran ran = fleet.run("verify --json");
  CHECK(ran.exit_code == 3);
  CHECK(all_texts(ran.json()).find("1 row of table invoice without a key") != std::string::npos);
}

TEST_CASE("a missing home is found") {
  CommandFleet fleet;
  fleet.fill(30);
  std::filesystem::remove(fleet.home_file(fleet.node_of(3), 3));
  const Ran ran = fleet.run("verify --json");
  CHECK(ran.exit_code == 3);
  CHECK(all_texts(ran.json()).find("does not exist") != std::string::npos);
}

TEST_CASE("reference tables that differ are found by table and node") {
  CommandFleet fleet({"a", "b", "c"});
  fleet.fill(30);
  fleet.damage_file(fleet.folder().path() / "b" / "shop_reference.db",
                    "INSERT INTO genre VALUES (1, 'Rock')");
  const Ran ran = fleet.run("verify --json");
  CHECK(ran.exit_code == 3);
  CHECK(all_texts(ran.json()).find("reference home on node 'b': table genre") != std::string::npos);
}

TEST_CASE("two homes of a move that differ are found and repaired") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"});
  const auto moves = fleet.done("apply --json --observe-for 1h").json()["moves"];
  const auto* chosen = &moves[0];
  for (const auto& move : moves)
    if (move["rows_copied"].get<int>() > 0) chosen = &move;
  const int shard = (*chosen)["shard"];
  fleet.damage((*chosen)["source"], shard, "UPDATE customer SET name = name || '!'");
  const std::string verify = "verify --json --shard " + std::to_string(shard);
  const Ran ran = fleet.run(verify);
  INFO(ran.out << ran.err);
  CHECK(ran.exit_code == 3);
  CHECK(ran.json()["moves"]["samples"][0]["columns"] == nlohmann::json::array({"name"}));
  const auto repaired = fleet.done(verify + " --repair").json();
  CHECK(repaired["moves"]["repaired"] == repaired["moves"]["differences"]);
  CHECK(fleet.done(verify).json()["verdict"] == "verified");
}
