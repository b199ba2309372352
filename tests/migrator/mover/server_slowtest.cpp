#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"
#include "support/postgres.hpp"
#include "support/postgres_cluster.hpp"

// PostgreSQL servers that are killed and started again, or replaced by a replica, while a shard
// moves and an application writes.

namespace ringshard::testing {
namespace {

constexpr auto schema =
    "CREATE TABLE item (id bigint PRIMARY KEY, name text);"
    "CREATE TABLE counter (id bigint PRIMARY KEY, n bigint NOT NULL);";

constexpr auto rows_before =
    "INSERT INTO item SELECT -i, 'before' FROM generate_series(1, 12) i;"
    "INSERT INTO counter SELECT i, 0 FROM generate_series(0, 4) i";

/// Inserts rows and counts upwards, one transaction after the other, and keeps what it was told.
class Writer {
 public:
  explicit Writer(Cluster cluster) : cluster_(std::move(cluster)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Writer() { stop(); }

  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }

  /// After stop(): what the tables must hold.
  void check(MoveWorld& world, const char* node) const {
    std::set<std::int64_t> found;
    for (const Row& row : world.rows("SELECT id FROM item WHERE id > 0", node))
      found.insert(std::get<std::int64_t>(row[0]));
    for (const std::int64_t id : acknowledged_) CHECK(found.contains(id));
    for (const std::int64_t id : found) CHECK((acknowledged_.contains(id) || maybe_.contains(id)));
    std::map<std::int64_t, std::int64_t> least;
    std::map<std::int64_t, std::int64_t> most;
    for (const std::int64_t id : acknowledged_) ++least[id % 5];
    most = least;
    for (const std::int64_t id : maybe_) ++most[id % 5];
    for (const Row& row : world.rows("SELECT id, n FROM counter", node)) {
      const auto id = std::get<std::int64_t>(row[0]);
      const auto n = std::get<std::int64_t>(row[1]);
      CHECK(n >= least[id]);
      CHECK(n <= most[id]);
    }
  }

  std::size_t acknowledged() const { return acknowledged_.size(); }

 private:
  void run() {
    for (std::int64_t id = 1; !stopping_; ++id) {
      // As fast as it can, it would outrun a mover whose chunks are so small.
      system_clock().sleep_for(std::chrono::milliseconds(3));
      try {
        cluster_.transact(MoveWorld::shard, [&](Transaction& tx) {
          tx.execute("INSERT INTO item VALUES ($1, 'during')", id);
          tx.execute("UPDATE counter SET n = n + 1 WHERE id = $1", id % 5);
        });
        acknowledged_.insert(id);
      } catch (const Error& error) {
        // Anything else says that it has not happened.
        if (error.outcome_unknown()) maybe_.insert(id);
      }
    }
  }

  Cluster cluster_;
  std::atomic<bool> stopping_{false};
  std::set<std::int64_t> acknowledged_;
  std::set<std::int64_t> maybe_;
  std::thread thread_;
};

/// Runs the move as an operator does: again, as long as it says that this may help.
MoveRecord run_again(MoveWorld& world) {
  for (int tries = 0;; ++tries) {
    try {
      return world.run();
    } catch (const Error& error) {
      INFO(error.what());
      if (!error.retryable()) throw;
      REQUIRE(tries < 100);
      system_clock().sleep_for(std::chrono::milliseconds(50));
    }
  }
}

constexpr FaultPoint points[] = {
    FaultPoint::target_created,      FaultPoint::capture_installed,
    FaultPoint::backfill_chunk_read, FaultPoint::backfill_chunk_written,
    FaultPoint::tail_applied,        FaultPoint::verify_chunk_compared,
    FaultPoint::after_ready,         FaultPoint::cutover_locked,
    FaultPoint::cutover_drained,     FaultPoint::cutover_decided,
    FaultPoint::cutover_promoted,    FaultPoint::placement_stored,
};

void kill_at_every_point(bool source_is_killed) {
  PostgresCluster source;
  PostgresCluster target;
  PostgresCluster& victim = source_is_killed ? source : target;
  for (const FaultPoint point : points) {
    INFO("at " << to_string(point));
    MoveWorld world({Engine::postgres, schema, source.new_database()},
                    {Engine::postgres, schema, target.new_database()});
    world.options.tail_rows = 500;
    world.sql(rows_before);
    Writer writer(world.cluster());
    {
      AtPoint at(point, [&victim] {
        victim.kill();
        victim.start();
      });
      REQUIRE(run_again(world).stage == MoveStage::observing);
      CHECK(at.reached());
    }
    // Both homes are kept equal from here on, whatever happened before.
    writer.stop();
    CHECK(writer.acknowledged() > 0);
    CHECK(world.verify().equal());
    writer.check(world, "target");
    if (point == FaultPoint::cutover_decided) {
      CHECK(world.roll_back().stage == MoveStage::rolled_back);
      writer.check(world, "source");
    } else {
      CHECK(world.finalize().stage == MoveStage::done);
      writer.check(world, "target");
    }
  }
}

}  // namespace

TEST_CASE("PostgreSQL: a source that is killed at any point of a move loses nothing") {
  if (no_server()) return;
  kill_at_every_point(true);
}

TEST_CASE("PostgreSQL: a target that is killed at any point of a move loses nothing") {
  if (no_server()) return;
  kill_at_every_point(false);
}

TEST_CASE("PostgreSQL: a source whose older replica takes over is noticed, and compared anew") {
  if (no_server()) return;
  PostgresCluster primary;
  PostgresCluster target;
  const std::string database = primary.new_database();
  PostgresCluster replica(primary);
  const std::string name =
      database.substr(database.find("@/") + 2, database.find('?') - database.find("@/") - 2);
  const std::string both = "postgresql://ringshard@/" + name + "?host=" + primary.folder() + "," +
                           replica.folder() + "&target_session_attrs=read-write";
  MoveWorld world({Engine::postgres, schema, both},
                  {Engine::postgres, schema, target.new_database()});
  world.sql(rows_before);
  Cluster cluster = world.cluster();
  const auto write = [&](std::int64_t id) {
    cluster.execute(MoveWorld::shard, "INSERT INTO item VALUES ($1, 'written')", id);
  };
  {
    AtPoint at(FaultPoint::after_ready, [&] {
      // The replica is behind by what only the primary and the mirror have.
      system_clock().sleep_for(std::chrono::seconds(1));
      replica.stop();
      for (std::int64_t id = 100; id < 120; ++id) write(id);
      primary.kill();
      replica.start();
      replica.promote();
    });
    CHECK_THROWS_AS(world.run(), Error);
    CHECK(at.reached());
  }
  // Numbers of the change log that the mirror has seen are given out again by the new server.
  for (std::int64_t id = 200; id < 210; ++id) write(id);
  try {
    run_again(world);
    FAIL("differences were not found");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::differs);
  }
  CHECK(world.record().stage == MoveStage::verifying);
  CHECK(world.record().differences_found);
  world.options.repair = true;
  CHECK(run_again(world).stage == MoveStage::observing);
  CHECK(world.content("target") == world.content("source"));
  const auto written = [&](const char* condition) {
    return std::get<std::int64_t>(
        world.rows("SELECT count(*) FROM item WHERE " + std::string(condition), "target")[0][0]);
  };
  CHECK(written("id BETWEEN 100 AND 119") == 0);
  CHECK(written("id BETWEEN 200 AND 209") == 10);
}

}  // namespace ringshard::testing
