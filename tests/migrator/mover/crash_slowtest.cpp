#include <signal.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"
#include "support/process.hpp"

// The migrator is a real process that is killed at every fault point; another one goes on, or goes
// back. An application writes all the while.

namespace ringshard::testing {
namespace {

constexpr auto schema =
    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, code TEXT UNIQUE);"
    "CREATE TABLE part (item_id INTEGER NOT NULL REFERENCES item (id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL, PRIMARY KEY (item_id, number))";

/// Writes until it is destroyed, and knows which writes were acknowledged.
class Application {
 public:
  explicit Application(const MoveWorld& world) : cluster_(world.cluster()) {
    thread_ = std::thread([this] { run(); });
  }
  Application(const Application&) = delete;
  ~Application() {
    if (thread_.joinable()) stop();
  }

  /// The ids of the acknowledged items.
  std::set<std::int64_t> stop() {
    stop_.store(true);
    thread_.join();
    return acknowledged_;
  }

  Cluster& cluster() { return cluster_; }
  std::int64_t failed() const { return failed_.load(); }

 private:
  void run() {
    for (std::int64_t id = 1000; !stop_.load(); ++id) {
      try {
        cluster_.transact(MoveWorld::shard, [&](Transaction& tx) {
          tx.execute("INSERT INTO item VALUES ($1, 'written', $2)", id, std::to_string(id));
          tx.execute("INSERT INTO part VALUES ($1, 1)", id);
          tx.execute("UPDATE item SET name = 'touched ' || $1 WHERE id = $2", id, id % 20);
          if (id % 7 == 0) tx.execute("DELETE FROM item WHERE id = $1", id - 3);
        });
        acknowledged_.insert(id);
        if (id % 7 == 0) acknowledged_.erase(id - 3);
      } catch (const Error&) {
        failed_.fetch_add(1);
      }
      system_clock().sleep_for(std::chrono::milliseconds(1));
    }
  }

  Cluster cluster_;
  std::atomic<bool> stop_{false};
  std::atomic<std::int64_t> failed_{0};
  std::set<std::int64_t> acknowledged_;  // the thread's own until it is joined
  std::thread thread_;
};

void fill(MoveWorld& world) {
  for (int id = 1; id < 20; ++id)
    world.sql("INSERT INTO item VALUES (" + std::to_string(id) + ", 'before', 'c" +
              std::to_string(id) + "'); INSERT INTO part VALUES (" + std::to_string(id) + ", 7)");
}

ProcessResult migrator(const MoveWorld& world, std::vector<std::string> arguments,
                       const std::string& fault = "") {
  arguments.insert(arguments.end(), {"--config", world.config_file().string()});
  std::map<std::string, std::string> environment;
  if (!fault.empty()) environment["RINGSHARD_FAULT"] = fault;
  return run_process(ringshard_program(), arguments, environment);
}

/// Nothing acknowledged is missing, what is there is whole, and no trace of a move is left.
void require_intact(MoveWorld& world, const std::set<std::int64_t>& acknowledged,
                    const std::string& owner) {
  std::set<std::int64_t> found;
  for (const Row& row : world.rows("SELECT id FROM item WHERE id >= 1000", owner))
    found.insert(std::get<std::int64_t>(row[0]));
  for (const std::int64_t id : acknowledged) {
    INFO("item " << id);
    CHECK(found.contains(id));
  }
  CHECK(world.rows("SELECT count(*) FROM item WHERE id < 1000", owner)[0] == Row{std::int64_t{19}});
  CHECK(world.rows("SELECT count(*) FROM item i WHERE NOT EXISTS"
                   " (SELECT 1 FROM part p WHERE p.item_id = i.id)",
                   owner)[0] == Row{std::int64_t{0}});
  CHECK(world.rows("PRAGMA foreign_key_check", owner).empty());
  CHECK_FALSE(world.has_capture(owner));
  CHECK_FALSE(world.home_record(owner == "source" ? "target" : "source").has_value());
  const ProcessResult doctor = migrator(world, {"doctor"});
  INFO(doctor.out << doctor.err);
  CHECK(doctor.exit_code == 0);
}

enum class Way { forward, back };

/// Which command reaches a fault point, for the process that is to be killed there.
struct Victim {
  FaultPoint point;
  std::vector<std::string> before;   ///< command that has to have ended first
  std::vector<std::string> command;  ///< the one that is killed
  bool needs_changes = false;        ///< only reached if the change log holds something
};

std::vector<Victim> victims() {
  std::vector<Victim> all;
  const std::vector<std::string> resume{"resume", "m1"};
  const std::vector<std::string> finalize{"finalize", "m1"};
  const std::vector<std::string> roll_back{"rollback", "m1"};
  for (const FaultPoint point : all_fault_points()) {
    switch (point) {
      case FaultPoint::before_mirroring:
      case FaultPoint::after_mirroring:
      case FaultPoint::before_backfilling:
      case FaultPoint::after_backfilling:
      case FaultPoint::before_verifying:
      case FaultPoint::after_verifying:
      case FaultPoint::before_ready:
      case FaultPoint::after_ready:
      case FaultPoint::before_cut_over:
      case FaultPoint::after_cut_over:
      case FaultPoint::before_observing:
      case FaultPoint::after_observing:
      case FaultPoint::target_created:
      case FaultPoint::capture_installed:
      case FaultPoint::backfill_chunk_read:
      case FaultPoint::backfill_chunk_written:
      case FaultPoint::owner_locked:
      case FaultPoint::mirror_locked:
      case FaultPoint::verify_chunk_compared:
        all.push_back({point, {}, resume, false});
        break;
      case FaultPoint::tail_read:
      case FaultPoint::tail_applied:
      case FaultPoint::tail_erased:
        all.push_back({point, {}, resume, true});
        break;
      case FaultPoint::cutover_locked:
      case FaultPoint::cutover_drained:
      case FaultPoint::cutover_compared:
      case FaultPoint::cutover_decided:
      case FaultPoint::cutover_promoted:
      case FaultPoint::placement_stored:
        all.push_back({point, {}, resume, false});
        all.push_back({point, resume, roll_back, false});
        break;
      case FaultPoint::before_cleaning:
      case FaultPoint::after_cleaning:
      case FaultPoint::before_done:
      case FaultPoint::after_done:
        all.push_back({point, resume, finalize, false});
        break;
      case FaultPoint::before_rolling_back:
      case FaultPoint::after_rolling_back:
      case FaultPoint::before_rolled_back:
      case FaultPoint::after_rolled_back:
        all.push_back({point, resume, roll_back, false});
        break;
      case FaultPoint::capture_removed:
      case FaultPoint::home_dropped:
        all.push_back({point, resume, finalize, false});
        all.push_back({point, resume, roll_back, false});
        break;
      case FaultPoint::before_reverting:
      case FaultPoint::after_reverting:
      case FaultPoint::before_reverted:
      case FaultPoint::after_reverted:
        all.push_back({point, {}, {"abort", "m1"}, false});
        break;
      case FaultPoint::capture_shrunk:
        break;  // only after thousands of changes: move_test.cpp
      case FaultPoint::write_locked:
      case FaultPoint::write_committed:
      case FaultPoint::write_mirrored:
        break;  // inside a router: router_kill below
    }
  }
  return all;
}

void survive(const Victim& victim, Way way) {
  INFO("killed at " << to_string(victim.point) << " of " << victim.command[0] << ", then "
                    << (way == Way::forward ? "on" : "back"));
  MoveWorld world(schema);
  fill(world);
  world.write_config();
  Application application(world);
  if (!victim.before.empty()) {
    const ProcessResult prepared = migrator(world, victim.before);
    INFO(prepared.out << prepared.err);
    REQUIRE(prepared.exit_code == 0);
  }
  if (victim.command[0] == "abort") {
    // Half-way first, so that there is something to take back.
    REQUIRE(migrator(world, {"resume", "m1"}, "after_verifying=kill").signal == SIGKILL);
    world.expire_lease();
  }
  if (victim.needs_changes) {
    REQUIRE(migrator(world, {"resume", "m1"}, "after_mirroring=kill").signal == SIGKILL);
    world.expire_lease();
    world.sql("UPDATE item SET name = 'changed' WHERE id < 5");
  }
  const ProcessResult killed =
      migrator(world, victim.command, std::string(to_string(victim.point)) + "=kill");
  {
    INFO(killed.out << killed.err);
    REQUIRE(killed.signal == SIGKILL);
  }
  world.expire_lease();

  const MoveStage stage = world.record().stage;
  std::string command = "resume";
  if (way == Way::back && can_abort(stage)) command = "abort";
  if (way == Way::back && can_roll_back(stage)) command = "rollback";
  const ProcessResult ended = migrator(world, {command, "m1"});
  {
    INFO(command << ": " << ended.out << ended.err);
    // An abort that comes after the decision finishes the handover and says that it came too late.
    const bool too_late = command == "abort" && world.record().stage == MoveStage::observing;
    REQUIRE(ended.exit_code == (too_late ? 1 : 0));
  }
  if (world.record().stage == MoveStage::observing) {
    const ProcessResult finished =
        migrator(world, {way == Way::back ? "rollback" : "finalize", "m1"});
    INFO(finished.out << finished.err);
    REQUIRE(finished.exit_code == 0);
  }
  const std::set<std::int64_t> acknowledged = application.stop();
  CHECK(application.failed() == 0);
  const MoveStage last = world.record().stage;
  REQUIRE(is_final(last));
  require_intact(world, acknowledged, last == MoveStage::done ? "target" : "source");
}

}  // namespace

TEST_CASE("a migrator killed at any point is followed by one that finishes the move") {
  for (const Victim& victim : victims()) survive(victim, Way::forward);
}

TEST_CASE("a migrator killed at any point is followed by one that takes the move back") {
  for (const Victim& victim : victims()) survive(victim, Way::back);
}

TEST_CASE("a router alone finishes a handover that was decided") {
  MoveWorld world(schema);
  fill(world);
  world.write_config();
  REQUIRE(migrator(world, {"resume", "m1"}, "cutover_decided=kill").signal == SIGKILL);
  REQUIRE(world.home_record("source")->role == Role::mirror);
  REQUIRE(world.home_record("target")->role == Role::mirror);
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "INSERT INTO item VALUES (500, 'after', 'after')");
  CHECK(world.home_record("target")->role == Role::owner);
  CHECK(cluster.statistics().finished_handovers == 1);
  CHECK(world.rows("SELECT count(*) FROM item WHERE id = 500", "target")[0] ==
        Row{std::int64_t{1}});
}

TEST_CASE(
    "a migrator that is stopped while it holds the lock does not hold writers past the budget") {
  MoveWorld world(schema);
  fill(world);
  // Long enough for what comes on top of it, on a busy machine, to be small beside it.
  constexpr auto budget = std::chrono::seconds(2);
  world.write_config("2s");
  Cluster cluster = world.cluster();
  Process stopped(ringshard_program(), {"resume", "m1", "--config", world.config_file().string()},
                  {{"RINGSHARD_FAULT", "cutover_drained=stop"}});
  REQUIRE(stopped.stopped_within(std::chrono::seconds(20)));
  // Waits for the lock, and gets it although the migrator never runs again.
  const TimePoint asked = system_clock().now();
  cluster.execute(MoveWorld::shard, "INSERT INTO item VALUES (500, 'meanwhile', 'meanwhile')");
  CHECK(system_clock().now() - asked < budget + budget / 2);
  const auto ended = stopped.wait_for(std::chrono::seconds(10));
  REQUIRE(ended.has_value());
  CHECK(ended->signal == SIGKILL);
  CHECK(ended->err.find("resume") != std::string::npos);
  CHECK(world.home_record("source")->role == Role::owner);
  world.expire_lease();
  const ProcessResult resumed = migrator(world, {"resume", "m1"});
  INFO(resumed.out << resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(world.rows("SELECT count(*) FROM item WHERE id = 500", "target")[0] ==
        Row{std::int64_t{1}});
}

TEST_CASE("a migrator that is stopped outside of a cutover does not hold writers for ever") {
  const std::string point = GENERATE("owner_locked", "mirror_locked");
  INFO(point);
  MoveWorld world(schema);
  fill(world);
  world.write_config();
  Process stopped(ringshard_program(), {"resume", "m1", "--config", world.config_file().string()},
                  {{"RINGSHARD_FAULT", point + "=stop"}});
  REQUIRE(stopped.stopped_within(std::chrono::seconds(20)));
  world.sql("INSERT INTO item VALUES (500, 'meanwhile', 'meanwhile')");
  const auto ended = stopped.wait_for(std::chrono::seconds(20));
  REQUIRE(ended.has_value());
  CHECK(ended->signal == SIGKILL);
  world.expire_lease();
  const ProcessResult resumed = migrator(world, {"resume", "m1"});
  INFO(resumed.out << resumed.err);
  CHECK(resumed.exit_code == 0);
}

}  // namespace ringshard::testing
