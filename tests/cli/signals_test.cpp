// The real program, asked to stop and with nobody to listen.

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/fleet.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"
#include "support/paths.hpp"

using namespace ringshard::testing;

namespace {

/// Starts the program with its output in a file.
pid_t start(const CommandFleet& fleet, std::vector<std::string> arguments,
            const std::string& fault) {
  arguments.insert(arguments.begin(), ringshard_program().string());
  arguments.insert(arguments.begin() + 2,
                   {"--config", (fleet.folder() / "ringshard.yaml").string()});
  const std::string out = (fleet.folder() / "out").string();
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (!fault.empty()) ::setenv("RINGSHARD_FAULT", fault.c_str(), 1);
  const int file = ::open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::execv(words[0], words.data());
  ::_exit(127);
}

int exit_code_of(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("apply that gets SIGTERM stops between two steps and resume finishes it") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"}, "move: {observe_for: 0s}\n");
  const pid_t child = start(fleet, {"apply"}, "backfill_chunk_read=stop");
  int status = 0;
  REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  ::kill(child, SIGTERM);
  ::kill(child, SIGCONT);
  CHECK(exit_code_of(child) == 75);
  INFO(read_file(fleet.folder() / "out"));
  CHECK(read_file(fleet.folder() / "out").find("`ringshard resume` goes on") != std::string::npos);

  const auto moves = fleet.done("status --json").json()["moves"];
  REQUIRE_FALSE(moves.empty());
  for (const auto& move : moves) {
    CHECK(move["wish"] == "none");
    CHECK(move["lease_holder"] == "");
  }
  fleet.done("resume");
  CHECK(fleet.done("doctor").exit_code == 0);
  CHECK(fleet.done("verify --json").json()["rows"] == 120);
}

TEST_CASE("apply that is killed is finished by resume as soon as its lease is over") {
  CommandFleet fleet;
  fleet.fill(40);
  fleet.configure({"a", "b", "c"}, "move: {observe_for: 0s, lease: 1s}\n");
  const pid_t child = start(fleet, {"apply"}, "after_ready=kill");
  CHECK(exit_code_of(child) == -SIGKILL);
  // Until then it can not be told from one that is slow.
  Ran resumed = fleet.run("resume");
  for (int i = 0; i < 200 && resumed.exit_code == 75; ++i) {
    ringshard::system_clock().sleep_for(std::chrono::milliseconds(50));
    resumed = fleet.run("resume");
  }
  INFO(resumed.out << resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(fleet.done("doctor").exit_code == 0);
  CHECK(fleet.done("verify --json").json()["rows"] == 120);
}

TEST_CASE("a fault point that is misspelt is a usage error") {
  CommandFleet fleet;
  CHECK(exit_code_of(start(fleet, {"status"}, "nowhere=kill")) == 2);
}

TEST_CASE("the program outlives a reader that went away") {
  CommandFleet fleet;
  const std::string command = "'" + ringshard_program().string() + "' status --config '" +
                              (fleet.folder() / "ringshard.yaml").string() + "'; echo $? >'" +
                              (fleet.folder() / "code").string() + "'";
  const std::string piped = "{ " + command + "; } | true";
  REQUIRE(std::system(piped.c_str()) == 0);
  CHECK(read_file(fleet.folder() / "code") != "141\n");
}

TEST_CASE("a fault point that does not exist is a usage error of the program") {
  const CommandFleet fleet;
  CHECK(exit_code_of(start(fleet, {"status"}, "nowhere=kill")) == 2);
}
