#include "migrator/mover/capture_race.hpp"

#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"

// A row that changes between a read at the source and the write at the target that follows from it.
// The order is forced: the change is made inside the mover's own fault point, once through the
// router, which double-writes, and once by a program that knows nothing of it.

namespace ringshard::testing {
namespace {

constexpr auto schema =
    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, code TEXT UNIQUE);"
    "CREATE TABLE part (item_id INTEGER NOT NULL REFERENCES item (id) ON DELETE CASCADE,"
    "  number INTEGER NOT NULL, note TEXT, PRIMARY KEY (item_id, number));";

constexpr auto rows_before =
    "INSERT INTO item VALUES (1,'one','a'),(2,'two','b'),(3,'three','c'),(4,'four','d'),"
    "(5,'five','e'),(6,'six','f'),(7,'seven','g');"
    "INSERT INTO part VALUES (1,1,'x'),(1,2,'y'),(2,1,'z'),(3,1,'u'),(3,2,'v'),(4,1,'w');";

struct Change {
  const char* name;
  const char* statements;
};

constexpr Change changes[] = {
    {"a row is changed", "UPDATE item SET name = 'changed' WHERE id = 2"},
    {"a row is deleted", "DELETE FROM part WHERE item_id = 1 AND number = 2"},
    {"a row is deleted with its children by a cascade", "DELETE FROM item WHERE id = 3"},
    {"a row is deleted and inserted again",
     "DELETE FROM part WHERE item_id = 2; INSERT INTO part VALUES (2, 1, 'again')"},
    {"a row moves to another primary key", "UPDATE item SET id = 70 WHERE id = 7"},
    {"a row moves to a key that was copied already",
     "UPDATE part SET item_id = 1, number = 0 WHERE item_id = 4"},
    {"a row is created in the part that was copied", "INSERT INTO item VALUES (0, 'zero', 'z')"},
    {"a row is created beyond the end", "INSERT INTO item VALUES (99, 'far', 'far')"},
    {"a row replaces another through a further unique key",
     "INSERT OR REPLACE INTO item VALUES (50, 'fifty', 'a')"},
    {"two rows swap the values of a unique key",
     "UPDATE item SET code = 'tmp' WHERE id = 1; UPDATE item SET code = 'a' WHERE id = 2;"
     "UPDATE item SET code = 'b' WHERE id = 1"},
    {"an update changes nothing", "UPDATE item SET name = name WHERE id = 4"},
    {"a row is created and deleted",
     "INSERT INTO item VALUES (8, 'brief', 'h'); DELETE FROM item WHERE id = 8"},
    {"every row is deleted", "DELETE FROM item"},
};

constexpr FaultPoint points[] = {
    FaultPoint::target_created,         FaultPoint::capture_installed,
    FaultPoint::after_mirroring,        FaultPoint::backfill_chunk_read,
    FaultPoint::backfill_chunk_written, FaultPoint::before_verifying,
    FaultPoint::verify_chunk_compared,  FaultPoint::after_ready,
    FaultPoint::cutover_promoted,
};

void through_router(Cluster& cluster, const std::string& statements) {
  cluster.transact(MoveWorld::shard, [&](Transaction& tx) {
    std::size_t begin = 0;
    while (begin < statements.size()) {
      std::size_t end = statements.find(';', begin);
      if (end == std::string::npos) end = statements.size();
      tx.execute(statements.substr(begin, end - begin));
      begin = end + 1;
    }
  });
}

/// What the tables must hold in the end: the same statements on a database that nobody moves.
std::map<std::string, std::vector<std::string>> expected_after(const char* statements) {
  MoveWorld world(schema);
  world.sql(rows_before);
  world.sql(statements);
  return world.content("source");
}

}  // namespace

void change_at_every_point(std::size_t every) {
  std::size_t worlds = 0;
  for (const Change& change : changes) {
    const auto expected = expected_after(change.statements);
    for (const FaultPoint point : points) {
      for (const bool routed : {true, false}) {
        // A program that goes by the file's name does not follow a shard to its new node.
        if (!routed && point == FaultPoint::cutover_promoted) continue;
        for (const int nth : {1, 2}) {
          if (worlds++ % every != 0) continue;
          INFO(change.name << " at " << to_string(point) << " no. " << nth
                           << (routed ? " through the router" : " without the router"));
          MoveWorld world(schema);
          world.sql(rows_before);
          Cluster cluster = world.cluster();
          bool reached = false;
          {
            AtPoint at(
                point,
                [&] {
                  if (routed)
                    through_router(cluster, change.statements);
                  else
                    world.sql(change.statements);
                },
                nth);
            REQUIRE(world.run().stage == MoveStage::observing);
            reached = at.reached();
          }
          if (!reached) {
            REQUIRE(nth == 2);
            continue;
          }
          CHECK(world.content("target") == expected);
          // What was written after the cutover is at the old owner too, for the way back.
          CHECK(world.roll_back().stage == MoveStage::rolled_back);
          CHECK(world.content("source") == expected);
          CHECK_FALSE(world.has_capture("source"));
          CHECK_FALSE(world.home_record("target").has_value());
        }
      }
    }
  }
}

void change_at_every_tail_step(std::size_t every) {
  std::size_t worlds = 0;
  for (const FaultPoint point :
       {FaultPoint::tail_read, FaultPoint::tail_applied, FaultPoint::tail_erased}) {
    for (const Change& change : changes) {
      if (worlds++ % every != 0) continue;
      INFO(change.name << " at " << to_string(point));
      MoveWorld world(schema);
      world.sql(rows_before);
      // Something for the tailer to do, which is changed once more while it does it.
      const std::string first = "UPDATE item SET name = 'first' WHERE id IN (1, 2, 4)";
      MoveWorld still(schema);
      still.sql(rows_before);
      still.sql(first);
      still.sql(change.statements);
      bool first_done = false;
      fault::set_handler([&](FaultPoint at) {
        if (at == FaultPoint::backfill_chunk_read && !first_done) {
          first_done = true;
          world.sql(first);
        }
        if (at == point) {
          fault::set_handler({});
          world.sql(change.statements);
        }
      });
      const MoveRecord moved = world.run();
      fault::set_handler({});
      REQUIRE(moved.stage == MoveStage::observing);
      CHECK(world.content("target") == still.content("source"));
    }
  }
}

}  // namespace ringshard::testing
