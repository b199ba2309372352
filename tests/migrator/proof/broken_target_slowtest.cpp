// The node that shards move to fails: it can not be written, it is full, it is gone. The
// application does not notice; the migrator says what is wrong, and goes on once it is mended.

#include <signal.h>
#include <sys/mount.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "migrator/proof/bank_fleet.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience(60);

/// A file system of its own at a directory; unmounted at the end of the scope.
class Mount {
 public:
  /// An empty one in memory; `options` such as "size=1m".
  static Mount memory(const fs::path& at, const std::string& options, unsigned long flags = 0) {
    fs::create_directories(at);
    return Mount(at, ::mount("tmpfs", at.c_str(), "tmpfs", flags, options.c_str()) == 0);
  }

  /// What is there already, for reading only to whoever opens it from now on.
  static Mount read_only(const fs::path& at) { return Mount(at, mount_read_only(at)); }

  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  ~Mount() { end(); }

  /// False where this process may not mount anything.
  bool mounted() const noexcept { return mounted_; }

  void resize(const std::string& options) const {
    if (::mount("tmpfs", at_.c_str(), "tmpfs", MS_REMOUNT, options.c_str()) != 0)
      throw std::runtime_error("can not mount " + at_.string() + " anew: " + std::strerror(errno));
  }

  void end() noexcept {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
    mounted_ = false;
  }

 private:
  static bool mount_read_only(const fs::path& at) {
    if (::mount(at.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) != 0) return false;
    if (::mount(nullptr, at.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0)
      return true;
    ::umount2(at.c_str(), MNT_DETACH);
    return false;
  }

  Mount(fs::path at, bool mounted) : at_(std::move(at)), mounted_(mounted) {}

  const fs::path at_;
  bool mounted_;
};

void skip_without_mounts() { skip_test("no file system may be mounted here"); }

/// The command fails in a way that says what to do: the error is of this kind and names what is at
/// fault.
nlohmann::json require_failure(const ProcessResult& result, int exit_code, const std::string& code,
                               const std::string& named) {
  INFO(result.out << result.err);
  CHECK(result.exit_code == exit_code);
  auto report = json_of(result);
  const std::string errors = errors_of(report);
  INFO(errors);
  CHECK(errors.find(code + ": ") != std::string::npos);
  CHECK(errors.find(named) != std::string::npos);
  return report;
}

/// After the mend: the moves end at the target, nothing is lost.
void require_finished(const BankFleet& bank, Application& application) {
  bank.fleet.done({"resume"});
  bank.fleet.done({"finalize", "--all"});
  bank.wait_for_more(50);
  require_unharmed(application.stop());
  bank.require_audited();
  bank.fleet.require_sound();
  for (const auto& node : bank.fleet.done({"status"})["nodes"])
    if (node["name"] == "c") CHECK(node["shards"] > 0);
}

/// The moves are given up: everything is where it was, and nothing of them is left.
void require_taken_back(const BankFleet& bank, Application& application) {
  bank.fleet.done({"abort", "--all"});
  bank.wait_for_more(50);
  require_unharmed(application.stop());
  bank.require_audited();
  bank.fleet.require_sound();
  for (const auto& node : bank.fleet.done({"status"})["nodes"])
    if (node["name"] == "c") CHECK(node["shards"] == 0);
  CHECK(bank.fleet.homes({"a", "b"}).size() == static_cast<std::size_t>(bank.options.shards));
  CHECK(bank.fleet.homes({"c"}).empty());
}

using Ending = std::function<void(const BankFleet&, Application&)>;

void target_turns_read_only(const Ending& ending) {
  const BankFleet bank;
  Application application(bank);
  bank.fleet.configure({"a", "b", "c"});
  require_failure(bank.fleet.run({"apply", "--json", "--max-moves", "1"},
                                 {{"RINGSHARD_FAULT", "backfill_chunk_written=fail"}}),
                  75, "unavailable", "a failure was asked for");
  const fs::path target = bank.fleet.node("c");
  Mount mount = Mount::read_only(target);
  if (!mount.mounted()) return skip_without_mounts();
  bank.wait_for_more(50);
  require_failure(bank.fleet.run({"resume", "--json"}), 1, "read_only", target.string());
  bank.wait_for_more(50);
  CHECK(bank.fleet.run({"doctor"}).exit_code == 3);
  mount.end();
  ending(bank, application);
}

/// Some 700 KB for each of the two shards that move.
BankOptions large() { return {.accounts = 200, .history = 150}; }

/// The application writes on while every attempt to go on ends for want of room.
void require_stopped_for_room(const BankFleet& bank) {
  bank.fleet.configure({"a", "b", "c"});
  for (const char* command : {"apply", "resume"}) {
    bank.wait_for_more(50);
    require_failure(bank.fleet.run({command, "--json"}), 75, "storage_full",
                    bank.fleet.node("c").string());
  }
  bank.wait_for_more(50);
}

/// The migrator waits at a fault point; meanwhile the target's directory is gone.
struct Removal {
  explicit Removal(const char* fault) : application(bank) {
    bank.fleet.configure({"a", "b", "c"});
    Process migrator = bank.start({"apply", "--json"}, std::string(fault) + "=stop");
    REQUIRE(migrator.stopped_within(patience));
    bank.wait_for_more(50);
    fs::rename(target, away);
    bank.wait_for_more(50);
    migrator.send(SIGCONT);
    const auto ended = migrator.wait_for(patience);
    REQUIRE(ended.has_value());
    INFO(ended->out << ended->err);
    CHECK((ended->exit_code == 1 || ended->exit_code == 75));
    CHECK(errors_of(json_of(*ended)).find(target.string()) != std::string::npos);
    bank.wait_for_more(50);
    require_failure(bank.fleet.run({"resume", "--json"}), 75, "unavailable", target.string());
    bank.wait_for_more(50);
  }

  const BankFleet bank;
  Application application;
  const fs::path target = bank.fleet.node("c");
  const fs::path away = bank.fleet.node("away");
};

}  // namespace

TEST_CASE("a target that can not be written is refused before anything has changed") {
  const BankFleet bank;
  Application application(bank);
  Mount mount = Mount::memory(bank.fleet.node("c"), "size=1m", MS_RDONLY);
  if (!mount.mounted()) return skip_without_mounts();
  bank.fleet.configure({"a", "b", "c"});
  require_failure(bank.fleet.run({"apply", "--json"}), 1, "read_only",
                  bank.fleet.node("c").string());
  CHECK(bank.fleet.done({"status"})["moves"].empty());
  CHECK(bank.fleet.done({"status"})["nodes"].size() == 2);
  bank.wait_for_more(50);
  mount.end();
  bank.fleet.done({"apply"});
  require_finished(bank, application);
}

TEST_CASE(
    "a target that turns read-only stops the move, not the application, and resume finishes") {
  target_turns_read_only(require_finished);
}

TEST_CASE(
    "a target that turns read-only stops the move, not the application, and abort goes back") {
  target_turns_read_only(require_taken_back);
}

TEST_CASE("a target that is full stops the move, not the application, and resume finishes") {
  const BankFleet bank(large());
  Application application(bank);
  const Mount mount = Mount::memory(bank.fleet.node("c"), "size=400k");
  if (!mount.mounted()) return skip_without_mounts();
  require_stopped_for_room(bank);
  mount.resize("size=64m");
  require_finished(bank, application);
}

TEST_CASE("a move to a target that is full can be given up") {
  const BankFleet bank(large());
  Application application(bank);
  const Mount mount = Mount::memory(bank.fleet.node("c"), "size=400k");
  if (!mount.mounted()) return skip_without_mounts();
  require_stopped_for_room(bank);
  const ProcessResult aborted = bank.fleet.run({"abort", "--all", "--json"});
  INFO(aborted.out << aborted.err);
  REQUIRE(aborted.exit_code == 0);
  bank.wait_for_more(50);
  require_taken_back(bank, application);
}

TEST_CASE("files that may not grow stop the move, and resume finishes without the limit") {
  const BankFleet bank({.accounts = 400, .history = 400});
  Application application(bank);
  bank.fleet.configure({"a", "b", "c"});
  std::vector<std::string> limited{"-c", "ulimit -f 2048 && exec \"$@\"", "sh",
                                   ringshard_program().string()};
  for (std::string& argument : bank.fleet.arguments({"apply", "--json"}))
    limited.push_back(std::move(argument));
  require_failure(run_process("/bin/sh", limited), 75, "storage_full", "no space is left for");
  bank.wait_for_more(50);
  require_finished(bank, application);
}

TEST_CASE(
    "a target removed during the backfill stops the move, and resume finishes when it is back") {
  Removal removal("backfill_chunk_written");
  fs::rename(removal.away, removal.target);
  require_finished(removal.bank, removal.application);
}

TEST_CASE(
    "a target removed before the cutover stops the move, and resume finishes when it is back") {
  Removal removal("after_ready");
  fs::rename(removal.away, removal.target);
  require_finished(removal.bank, removal.application);
}

TEST_CASE(
    "a target removed before the cutover stops the move, and abort goes back when it is back") {
  Removal removal("after_ready");
  fs::rename(removal.away, removal.target);
  require_taken_back(removal.bank, removal.application);
}

TEST_CASE(
    "a target that never comes back: abort goes back as soon as an empty one is in its place") {
  Removal removal("after_verifying");
  fs::remove_all(removal.away);
  require_failure(removal.bank.fleet.run({"abort", "--all", "--json"}), 75, "unavailable",
                  removal.target.string());
  removal.bank.wait_for_more(50);
  fs::create_directory(removal.target);
  require_taken_back(removal.bank, removal.application);
}

}  // namespace ringshard::testing
