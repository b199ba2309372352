#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {
namespace {

constexpr auto schema = "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)";

void fill(MoveWorld& world, int rows) {
  for (int i = 1; i <= rows; ++i)
    world.sql("INSERT INTO item (name) VALUES ('item " + std::to_string(i) + "')");
}

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("a move ends with the rows at the target alone, and the catalog says so") {
  MoveWorld world(schema);
  fill(world, 20);
  const auto before = world.content("source");

  CHECK(world.run().stage == MoveStage::observing);
  CHECK(world.content("target") == before);
  CHECK(world.content("source") == before);
  CHECK(world.home_record("source")->role == Role::mirror);
  CHECK(world.home_record("target")->role == Role::owner);

  const MoveRecord done = world.finalize();
  CHECK(done.stage == MoveStage::done);
  CHECK(done.rows_copied == 20);
  CHECK(done.rows_verified == 20);
  CHECK(world.content("target") == before);
  CHECK_FALSE(world.home_record("source").has_value());
  CHECK_FALSE(world.has_capture("target"));
  const HomeRecord at_rest = *world.home_record("target");
  CHECK(at_rest.role == Role::owner);
  CHECK(at_rest.leg == 0);
  CHECK(at_rest.peer.empty());
  CHECK(at_rest.move_id.empty());
  const Topology topology = world.catalog().topology("shop");
  CHECK(topology.node(topology.node_of(MoveWorld::shard)).name == "target");
}

TEST_CASE("an observation ends by the clock") {
  MoveWorld world(schema);
  fill(world, 3);
  world.options.observe_for = std::chrono::milliseconds(0);
  CHECK(world.run().stage == MoveStage::done);
}

TEST_CASE("an observation goes on until its time is over") {
  MoveWorld world(schema);
  CHECK(world.run().stage == MoveStage::observing);
  CHECK(world.run().stage == MoveStage::observing);
}

TEST_CASE("ids given out at the target continue beyond those of the source") {
  MoveWorld world(schema);
  fill(world, 5);
  world.sql("DELETE FROM item WHERE id = 5");
  REQUIRE(world.run().stage == MoveStage::observing);
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "INSERT INTO item (name) VALUES ('new')");
  CHECK(cluster.query_value<std::int64_t>(MoveWorld::shard, "SELECT max(id) FROM item") == 6);
}

TEST_CASE("a rollback brings every later write back to the source") {
  MoveWorld world(schema);
  fill(world, 5);
  REQUIRE(world.run().stage == MoveStage::observing);
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "INSERT INTO item (name) VALUES ('later')");
  cluster.execute(MoveWorld::shard, "UPDATE item SET name = 'changed' WHERE id = 1");
  cluster.execute(MoveWorld::shard, "DELETE FROM item WHERE id = 2");
  const auto now = world.content("target");
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(world.content("source") == now);
  CHECK_FALSE(world.home_record("target").has_value());
  CHECK_FALSE(world.has_capture("source"));
  CHECK(cluster.query_value<std::int64_t>(MoveWorld::shard, "SELECT count(*) FROM item") == 5);
  const Topology topology = world.catalog().topology("shop");
  CHECK(topology.node(topology.node_of(MoveWorld::shard)).name == "source");
}

TEST_CASE("a rollback to a home that was set back to before the cutover changes nothing") {
  MoveWorld world("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)");
  world.sql("INSERT INTO item VALUES (1, 'one')");
  CHECK(world.run().stage == MoveStage::observing);
  world.damage("UPDATE ringshard_home SET role = 'owner', leg = 1, peer = 'target'", "source");
  try {
    world.roll_back();
    FAIL("it was rolled back");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::refused);
    CHECK(std::string(error.what()).find("set back") != std::string::npos);
  }
  const Topology topology = world.catalog().topology("shop");
  CHECK(topology.node(topology.node_of(MoveWorld::shard)).name == "target");
  CHECK(world.home_record("target")->role == Role::owner);
}

TEST_CASE("writes made while the mirror could not be reached are brought back by a rollback") {
  MoveWorld world(schema);
  fill(world, 5);
  REQUIRE(world.run().stage == MoveStage::observing);
  // By a program that does not double-write: only the change log knows.
  world.sql("INSERT INTO item (name) VALUES ('not mirrored')", "target");
  world.sql("DELETE FROM item WHERE id = 3", "target");
  const auto now = world.content("target");
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(world.content("source") == now);
}

TEST_CASE("an abort before the cutover leaves the source as it was") {
  for (const FaultPoint point :
       {FaultPoint::capture_installed, FaultPoint::after_mirroring,
        FaultPoint::backfill_chunk_written, FaultPoint::after_verifying, FaultPoint::after_ready}) {
    INFO(to_string(point));
    MoveWorld world(schema);
    fill(world, 10);
    {
      AtPoint at(point, [] { throw Error(ErrorCode::unavailable, "stopped here"); });
      CHECK(code_of([&] { world.run(); }) == ErrorCode::unavailable);
    }
    world.sql("INSERT INTO item (name) VALUES ('during')");
    const auto now = world.content("source");
    CHECK(world.abort().stage == MoveStage::reverted);
    CHECK(world.content("source") == now);
    CHECK_FALSE(world.has_capture("source"));
    CHECK(world.home_record("source")->peer.empty());
    CHECK_FALSE(world.home_record("target").has_value());
  }
}

TEST_CASE("an abort is carried out by the migrator that is at work") {
  MoveWorld world(schema);
  fill(world, 10);
  AtPoint at(FaultPoint::after_backfilling, [&] { world.catalog().wish("m1", MoveWish::abort); });
  CHECK(world.run().stage == MoveStage::reverted);
}

TEST_CASE("an abort after the decision is refused and the way forward is named") {
  MoveWorld world(schema);
  REQUIRE(world.run().stage == MoveStage::observing);
  try {
    world.abort();
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::refused);
    CHECK(std::string(error.what()).find("rollback") != std::string::npos);
  }
  CHECK(world.record().stage == MoveStage::observing);
}

TEST_CASE("a handover that was decided is finished even where an abort was wished") {
  MoveWorld world(schema);
  fill(world, 4);
  {
    AtPoint at(FaultPoint::cutover_decided,
               [] { throw Error(ErrorCode::unavailable, "stopped here"); });
    CHECK(code_of([&] { world.run(); }) == ErrorCode::unavailable);
  }
  CHECK(world.record().stage == MoveStage::ready);
  CHECK(world.abort().stage == MoveStage::observing);
  CHECK(world.home_record("target")->role == Role::owner);
}

TEST_CASE("a copy out of a backup is not made the owner") {
  MoveWorld world(schema);
  fill(world, 4);
  const std::filesystem::path target = world.folder() / "target";
  const std::filesystem::path backup = world.folder() / "backup";
  const auto back_up = [&] {
    std::filesystem::copy(target, backup);
    world.sql("INSERT INTO item (name) VALUES ('not in the backup')");
  };
  {
    AtPoint ready(FaultPoint::after_ready, back_up);
    world.options.cutover.attempts_max = 0;  // no further than this
    CHECK(code_of([&] { world.run(); }) == ErrorCode::conflict);
  }
  world.options.cutover.attempts_max = 5;
  {
    AtPoint at(FaultPoint::cutover_decided,
               [] { throw Error(ErrorCode::unavailable, "stopped here"); });
    CHECK(code_of([&] { world.run(); }) == ErrorCode::unavailable);
  }
  const HomeRecord certified = *world.home_record("target");
  CHECK_FALSE(certified.certificate.empty());
  std::filesystem::remove_all(target);
  std::filesystem::rename(backup, target);

  CHECK(code_of([&] { world.run(); }) == ErrorCode::refused);
  CHECK(world.record().error.find("backup") != std::string::npos);
  CHECK(code_of([&] {
          world.cluster().execute(MoveWorld::shard, "INSERT INTO item (name) VALUES ('x')");
        }) == ErrorCode::not_owner);
  CHECK(world.home_record("target")->role == Role::mirror);
  CHECK(world.rows("SELECT count(*) FROM item", "source")[0] == Row{std::int64_t{5}});
}

TEST_CASE("a catalog that was restored from an older copy is led on by the homes") {
  MoveWorld world(schema);
  fill(world, 4);
  const std::filesystem::path catalog = world.folder() / "catalog.db";
  const std::filesystem::path backup = world.folder() / "backup.db";
  {
    AtPoint at(FaultPoint::after_backfilling, [&] { std::filesystem::copy_file(catalog, backup); });
    REQUIRE(world.run().stage == MoveStage::observing);
  }
  world.cluster().execute(MoveWorld::shard, "INSERT INTO item (name) VALUES ('at the target')");
  std::filesystem::rename(backup, catalog);
  std::filesystem::remove(catalog.string() + "-wal");
  std::filesystem::remove(catalog.string() + "-shm");
  REQUIRE(can_abort(world.record().stage));
  world.expire_lease();

  CHECK(world.run().stage == MoveStage::observing);
  const Topology topology = world.catalog().topology("shop");
  CHECK(topology.node(topology.node_of(MoveWorld::shard)).name == "target");
  CHECK(world.roll_back().stage == MoveStage::rolled_back);
  CHECK(world.rows("SELECT count(*) FROM item", "source")[0] == Row{std::int64_t{5}});
}

TEST_CASE("a long change log is removed in parts, between which writers go on") {
  MoveWorld world(schema);
  REQUIRE(world.run().stage == MoveStage::observing);
  world.sql(
      "INSERT INTO item (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      "LIMIT 12000) SELECT 'item' FROM n",
      "target");
  std::int64_t between = 0;
  fault::set_handler([&](FaultPoint at) {
    if (at != FaultPoint::capture_shrunk) return;
    world.sql("INSERT INTO item (name) VALUES ('between')", "target");
    ++between;
  });
  CHECK(world.finalize().stage == MoveStage::done);
  fault::set_handler({});
  CHECK(between >= 2);
  CHECK(world.rows("SELECT count(*) FROM item", "target")[0] == Row{12'000 + between});
  CHECK_FALSE(world.has_capture("target"));
}

TEST_CASE("a paused move stops between two chunks and goes on later") {
  MoveWorld world(schema);
  fill(world, 10);
  {
    AtPoint at(FaultPoint::after_mirroring, [&] { world.catalog().wish("m1", MoveWish::pause); });
    CHECK(code_of([&] { world.run(); }) == ErrorCode::cancelled);
  }
  CHECK(code_of([&] { world.run(); }) == ErrorCode::cancelled);
  world.catalog().wish("m1", MoveWish::none);
  CHECK(world.run().stage == MoveStage::observing);
}

TEST_CASE("two migrators do not run one move") {
  MoveWorld world(schema);
  fill(world, 4);
  ErrorCode second = ErrorCode::internal;
  {
    AtPoint at(FaultPoint::after_mirroring, [&] { second = code_of([&] { world.run(); }); });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(second == ErrorCode::lease_lost);
}

TEST_CASE("a mover that slept through the end of its lease has no effect any more") {
  for (const FaultPoint point :
       {FaultPoint::backfill_chunk_read, FaultPoint::tail_read, FaultPoint::cutover_promoted}) {
    INFO(to_string(point));
    MoveWorld world(schema);
    fill(world, 8);
    std::map<std::string, std::vector<std::string>> expected;
    bool slept = false;
    fault::set_handler([&](FaultPoint at) {
      if (at == FaultPoint::after_mirroring && point == FaultPoint::tail_read)
        world.sql("UPDATE item SET name = 'logged' WHERE id = 1");
      if (at != point || slept) return;
      slept = true;
      // Its lease ran out; another one takes over and finishes, rows change at their new home.
      world.expire_lease();
      world.run();
      Cluster cluster = world.cluster();
      cluster.execute(MoveWorld::shard, "DELETE FROM item WHERE id <= 2");
      cluster.execute(MoveWorld::shard, "UPDATE item SET name = 'newest' WHERE id = 3");
      expected = world.content("target");
    });
    try {
      world.run();
    } catch (const Error& error) {
      CHECK((error.code() == ErrorCode::lease_lost || error.code() == ErrorCode::refused));
    }
    fault::set_handler({});
    REQUIRE(slept);
    CHECK(world.record().stage == MoveStage::observing);
    CHECK(world.content("target") == expected);
    CHECK(world.home_record("target")->role == Role::owner);
  }
}

TEST_CASE("a transaction that is open when the cutover begins is at the new home when it commits") {
  MoveWorld world(schema);
  fill(world, 4);
  world.options.cutover.lock_timeout = std::chrono::milliseconds(20);
  Cluster cluster = world.cluster();
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  bool may_commit = false;
  std::thread writer;
  {
    // The transaction begins when the move is ready and commits after the first attempt had to give
    // up.
    AtPoint at(FaultPoint::after_ready, [&] {
      writer = std::thread([&] {
        cluster.transact(MoveWorld::shard, [&](Transaction& tx) {
          tx.execute("INSERT INTO item (name) VALUES ('open at the cutover')");
          std::unique_lock lock(mutex);
          open = true;
          changed.notify_all();
          changed.wait(lock, [&] { return may_commit; });
        });
      });
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return open; });
    });
    world.options.cutover.attempts_max = 1;
    world.options.lock_wait = std::chrono::milliseconds(50);
    CHECK(code_of([&] { world.run(); }) == ErrorCode::conflict);
  }
  CHECK(world.record().stage == MoveStage::ready);
  CHECK(world.home_record("source")->role == Role::owner);
  {
    std::lock_guard lock(mutex);
    may_commit = true;
  }
  changed.notify_all();
  writer.join();
  world.options.cutover.attempts_max = 100;
  world.options.lock_wait = std::chrono::seconds(20);
  CHECK(world.run().stage == MoveStage::observing);
  CHECK(world.rows("SELECT count(*) FROM item WHERE name LIKE 'open%'", "target")[0] ==
        Row{std::int64_t{1}});
}

TEST_CASE("a cutover that runs past its budget is given up and writers go on at the source") {
  MoveWorld world(schema);
  fill(world, 4);
  world.options.cutover.pause_budget = std::chrono::milliseconds(30);
  world.options.cutover.attempts_max = 2;
  int attempts = 0;
  fault::set_handler([&](FaultPoint at) {
    if (at != FaultPoint::cutover_drained) return;
    ++attempts;
    system_clock().sleep_for(std::chrono::milliseconds(40));
  });
  CHECK(code_of([&] { world.run(); }) == ErrorCode::conflict);
  fault::set_handler({});
  CHECK(attempts == 2);
  CHECK(world.home_record("source")->role == Role::owner);
  Cluster cluster = world.cluster();
  cluster.execute(MoveWorld::shard, "INSERT INTO item (name) VALUES ('goes on')");
  world.options.cutover.pause_budget = std::chrono::seconds(5);
  CHECK(world.run().stage == MoveStage::observing);
  CHECK(world.rows("SELECT count(*) FROM item", "target")[0] == Row{std::int64_t{5}});
}

TEST_CASE("a change log past its bound ends a forward move and the application goes on") {
  MoveWorld world(schema);
  fill(world, 10);
  world.options.change_log_rows_max = 5;
  AtPoint at(FaultPoint::backfill_chunk_read, [&] { fill(world, 30); });
  const MoveRecord ended = world.run();
  CHECK(ended.stage == MoveStage::reverted);
  CHECK(ended.error.find("change_log_rows_max") != std::string::npos);
  CHECK(world.rows("SELECT count(*) FROM item", "source")[0] == Row{std::int64_t{40}});
  CHECK_FALSE(world.has_capture("source"));
}

TEST_CASE("a definition that changed in the middle is found before the decision") {
  MoveWorld world(schema);
  fill(world, 4);
  {
    AtPoint at(FaultPoint::after_backfilling,
               [&] { world.sql("CREATE TABLE extra (id INTEGER PRIMARY KEY)"); });
    CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
  }
  CHECK(world.home_record("source")->role == Role::owner);
  CHECK(world.record().error.find("extra") != std::string::npos);
  SECTION("undone, the move goes on") {
    world.sql("DROP TABLE extra");
    CHECK(world.run().stage == MoveStage::observing);
  }
  SECTION("kept, the move can be aborted") { CHECK(world.abort().stage == MoveStage::reverted); }
}

TEST_CASE("a home that can not be moved is refused before anything is done") {
  SECTION("a table without a primary key") {
    MoveWorld world("CREATE TABLE loose (a, b)");
    CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
    CHECK(world.record().error.find("loose") != std::string::npos);
    CHECK(world.record().stage == MoveStage::planned);
    CHECK_FALSE(world.home_record("target").has_value());
    CHECK_FALSE(world.has_capture("source"));
  }
  SECTION("NULL inside a composite key") {
    MoveWorld world("CREATE TABLE pair (a, b, c, PRIMARY KEY (a, b))");
    world.sql("INSERT INTO pair VALUES (1, NULL, 'x')");
    CHECK(code_of([&] { world.run(); }) == ErrorCode::schema);
    CHECK(world.record().error.find("pair") != std::string::npos);
    CHECK_FALSE(world.home_record("target").has_value());
  }
}

TEST_CASE("a write that bypasses the router is refused by the old owner after the decision") {
  MoveWorld world(schema);
  fill(world, 2);
  REQUIRE(world.run().stage == MoveStage::observing);
  CHECK(code_of([&] { world.sql("INSERT INTO item (name) VALUES ('late')"); }) ==
        ErrorCode::not_owner);
  CHECK(world.rows("SELECT count(*) FROM item", "source")[0] == Row{std::int64_t{2}});
}

TEST_CASE("a target home that somebody else made is not touched") {
  MoveWorld world(schema);
  fill(world, 2);
  HomeRecord foreign;
  foreign.keyspace = "shop";
  foreign.shard = MoveWorld::shard;
  HomeSchema schema_of_it;
  schema_of_it.statements.emplace_back("CREATE TABLE precious (id INTEGER PRIMARY KEY)");
  world.backend("target").create_home(world.home(), foreign, schema_of_it);
  CHECK(code_of([&] { world.run(); }) == ErrorCode::refused);
  CHECK(world.home_record("target") == foreign);
  CHECK(world.rows("SELECT count(*) FROM precious", "target")[0] == Row{std::int64_t{0}});
}

}  // namespace ringshard::testing
