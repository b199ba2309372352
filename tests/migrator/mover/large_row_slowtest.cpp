#include "migrator/mover/move_world.hpp"
#include "support/catch.hpp"
#include "support/postgres.hpp"

namespace ringshard::testing {

TEST_CASE("PostgreSQL: a row of 100 MB moves, copied and written meanwhile") {
  if (no_server()) return;
  constexpr std::int64_t size = 100 << 20;
  MoveWorld world(
      "CREATE TABLE document (id bigint PRIMARY KEY, body bytea);"
      "ALTER TABLE document ALTER COLUMN body SET STORAGE EXTERNAL",
      Engine::postgres);
  world.sql("INSERT INTO document SELECT 1, decode(repeat('ab', " + std::to_string(size) +
            "), 'hex')");
  {
    Config config = world.config();
    config.router.deadline = config.router.mirror_timeout = std::chrono::minutes(3);
    Cluster cluster = Cluster::open(config);
    AtPoint at(FaultPoint::backfill_chunk_read, [&] {
      cluster.execute(MoveWorld::shard, "INSERT INTO document SELECT 2, body FROM document");
    });
    CHECK(world.run().stage == MoveStage::observing);
  }
  CHECK(world.rows("SELECT id, length(body) FROM document ORDER BY id", "target") ==
        std::vector<Row>{{std::int64_t{1}, size}, {std::int64_t{2}, size}});
  CHECK(world.finalize().stage == MoveStage::done);
}

}  // namespace ringshard::testing
