#include <string>
#include <variant>
#include <vector>

#include "migrator/cli.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::cli;

namespace {

Command parsed(std::vector<std::string> arguments) { return parse(arguments); }

template <class Options>
Options options_of(std::vector<std::string> arguments) {
  const Command command = parse(arguments);
  if (const auto* usage = std::get_if<UsageError>(&command)) INFO(usage->text);
  REQUIRE(std::holds_alternative<Options>(command));
  return std::get<Options>(command);
}

std::string usage_of(std::vector<std::string> arguments) {
  const Command command = parse(arguments);
  REQUIRE(std::holds_alternative<UsageError>(command));
  return std::get<UsageError>(command).text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> commands = {"init",  "import",   "route",    "ring",   "plan",
                                           "apply", "status",   "verify",   "pause",  "resume",
                                           "abort", "rollback", "finalize", "doctor", "events"};

}  // namespace

TEST_CASE("every command has help with an example") {
  for (const std::string& command : commands) {
    const Command result = parsed({command, "--help"});
    INFO(command);
    REQUIRE(std::holds_alternative<HelpRequest>(result));
    const std::string text = std::get<HelpRequest>(result).text;
    CHECK(holds(text, "Example: ringshard " + command));
    CHECK(holds(text, "--config"));
    CHECK(holds(text, "--json"));
  }
}

TEST_CASE("the program's help names every command and the exit codes") {
  const std::string text = std::get<HelpRequest>(parsed({"--help"})).text;
  for (const std::string& command : commands) CHECK(holds(text, command));
  CHECK(holds(text, "75 try again"));
}

TEST_CASE("every command takes the common options") {
  const auto options =
      options_of<StatusOptions>({"status", "--config", "x.yaml", "--json", "--verbose"});
  CHECK(options.common.config == "x.yaml");
  CHECK(options.common.json);
  CHECK(options.common.verbose);
  CHECK(options_of<RingOptions>({"ring"}).common.config == "ringshard.yaml");
  CHECK(holds(usage_of({"ring", "--verbose", "--quiet"}), "--"));
}

TEST_CASE("a key is taken as it is written") {
  CHECK(options_of<RouteOptions>({"route", "42"}).key == "42");
  CHECK(options_of<RouteOptions>({"route", "--explain", "--", "-42"}).key == "-42");
  CHECK(options_of<RouteOptions>({"route", "a b,c\\,d", "--explain"}).explain);
  CHECK(options_of<RouteOptions>({"route", ""}).key.empty());
}

TEST_CASE("parts are written in per cent or as fractions") {
  CHECK(*options_of<VerifyOptions>({"verify", "--sample", "10%"}).sample == 0.1);
  CHECK(*options_of<VerifyOptions>({"verify", "--sample=0.25", "--seed", "7"}).sample == 0.25);
  CHECK(options_of<PlanOptions>({"plan", "--tolerance", "10%"}).planning.tolerance == 0.1);
  for (const char* wrong : {"0%", "101%", "-1%", "ten", "10%%", "nan", ""}) {
    INFO(wrong);
    CHECK(holds(usage_of({"verify", std::string("--sample=") + wrong}), "--sample"));
  }
  CHECK(holds(usage_of({"plan", "--tolerance", "100%"}), "--tolerance"));
}

TEST_CASE("numbers and durations outside of their range are usage errors that quote them") {
  CHECK(holds(usage_of({"verify", "--shard", "-1"}), "-1"));
  CHECK(holds(usage_of({"verify", "--shard", "1048576"}), "1048576"));
  CHECK(holds(usage_of({"verify", "--shard", "seven"}), "seven"));
  CHECK(holds(usage_of({"plan", "--max-moves", "1.5"}), "1.5"));
  CHECK(holds(usage_of({"apply", "--observe-for", "10"}), "10"));
  CHECK(holds(usage_of({"pause", "--all", "--wait", "soon"}), "soon"));
  CHECK(options_of<ApplyOptions>({"apply", "--observe-for", "2h"}).observe_for ==
        std::chrono::hours(2));
}

TEST_CASE("options that contradict each other are refused") {
  usage_of({"verify", "--shard", "1", "--sample", "10%"});
  usage_of({"verify", "--move", "x", "--shard", "1"});
  usage_of({"verify", "--seed", "1"});
  usage_of({"apply", "--plan", "p.json", "--by", "rows"});
  usage_of({"abort", "m1", "--all"});
  usage_of({"rollback", "--shard", "1", "--all"});
}

TEST_CASE("a wish needs to say which moves and a resume means all") {
  CHECK(holds(usage_of({"abort"}), "abort needs the id of a move, --shard or --all"));
  CHECK(options_of<ResumeOptions>({"resume"}).selection.moves.empty());
  const auto wish = options_of<WishOptions>({"rollback", "m1", "m2", "--wait", "5s"});
  CHECK(wish.wish == MoveWish::roll_back);
  CHECK(wish.selection.moves == std::vector<std::string>{"m1", "m2"});
  CHECK(wish.wait == std::chrono::seconds(5));
  CHECK(options_of<WishOptions>({"pause", "--all"}).wish == MoveWish::pause);
  CHECK(options_of<WishOptions>({"finalize", "--shard", "3"}).selection.shard == 3U);
}

TEST_CASE("what is no command or no option is a usage error that names it") {
  CHECK(holds(usage_of({"paln"}), "paln"));
  CHECK(holds(usage_of({"plan", "--outt", "x"}), "--outt"));
  CHECK(holds(usage_of({"plan", "extra"}), "extra"));
  CHECK(holds(usage_of({}), "ringshard --help"));
  CHECK(holds(usage_of({"import"}), "--from"));
  CHECK(holds(usage_of({"plan", "--by", "luck"}), "luck"));
  CHECK(std::get<UsageError>(parsed({"import", "--json"})).json);
  CHECK_FALSE(std::get<UsageError>(parsed({"import"})).json);
}
