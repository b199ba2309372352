#include "backend/pool.hpp"

#include <atomic>
#include <thread>

#include "backend/conformance.hpp"
#include "backend/sqlite_fixture.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

HomeName home(std::uint32_t shard) { return {"shop", ShardId{shard}}; }

struct Node {
  SqliteFixture fixture;
  std::unique_ptr<Backend> backend = fixture.open_node("a");

  explicit Node(std::uint32_t homes) {
    backend->prepare_node();
    HomeSchema schema;
    schema.statements = {"CREATE TABLE item (id INTEGER PRIMARY KEY)"};
    for (std::uint32_t shard = 0; shard < homes; ++shard) {
      HomeRecord record = at_rest();
      record.shard = ShardId{shard};
      backend->create_home(home(shard), record, schema);
    }
  }
};

}  // namespace

TEST_CASE("a session that was given back is used again for the same home") {
  Node node(2);
  SessionPool pool(*node.backend, system_clock(), SessionUse::application, {});
  const void* first = pool.acquire(home(0), soon()).session().native_handle();
  CHECK(pool.open_count() == 1);
  CHECK(pool.acquire(home(0), soon()).session().native_handle() == first);
  CHECK(pool.open_count() == 1);
  auto other = pool.acquire(home(1), soon());
  CHECK(pool.open_count() == 2);
}

TEST_CASE("a full pool closes an idle session of another home") {
  Node node(3);
  SessionPool pool(*node.backend, system_clock(), SessionUse::application, {.size_max = 2});
  { const auto lease = pool.acquire(home(0), soon()); }
  const auto second = pool.acquire(home(1), soon());
  const auto third = pool.acquire(home(2), soon());
  CHECK(pool.open_count() == 2);
}

TEST_CASE("a pool with nothing free says which home could not be served") {
  Node node(2);
  SessionPool pool(*node.backend, system_clock(), SessionUse::application,
                   {.size_max = 1, .wait_max = std::chrono::milliseconds(5)});
  const auto lease = pool.acquire(home(0), soon());
  CHECK(error_of([&] { pool.acquire(home(1), soon()); }) == ErrorCode::pool_exhausted);
  CHECK(message_of([&] { pool.acquire(home(1), soon()); }).find("shop_1") != std::string::npos);
  CHECK(pool.open_count() == 1);
}

TEST_CASE("a session that is discarded or broken is not used again") {
  Node node(1);
  SessionPool pool(*node.backend, system_clock(), SessionUse::application, {});
  {
    auto lease = pool.acquire(home(0), soon());
    lease.discard();
  }
  CHECK(pool.open_count() == 0);
}

TEST_CASE("a transaction that is open when its session is given back is rolled back") {
  Node node(1);
  SessionPool pool(*node.backend, system_clock(), SessionUse::application, {});
  {
    auto lease = pool.acquire(home(0), soon());
    lease->begin_home(home(0), TxMode::write, soon());
    lease->execute("INSERT INTO item VALUES (1)");
  }
  auto lease = pool.acquire(home(0), soon());
  CHECK_FALSE(lease->in_transaction());
  CHECK(lease->integer("SELECT count(*) FROM item") == 0);
}

TEST_CASE("a connection that can not be opened does not use up the pool") {
  Node node(1);
  SessionPool pool(*node.backend, system_clock(), SessionUse::application, {.size_max = 1});
  for (int i = 0; i < 3; ++i)
    CHECK(error_of([&] { pool.acquire(home(9), soon()); }) == ErrorCode::not_found);
  CHECK(pool.open_count() == 0);
  pool.acquire(home(0), soon());
}

TEST_CASE("many threads never hold more sessions than the pool may open") {
  Node node(4);
  constexpr std::size_t size_max = 3;
  SessionPool pool(*node.backend, system_clock(), SessionUse::application,
                   {.size_max = size_max, .wait_max = std::chrono::seconds(60)});
  std::atomic<std::size_t> held{0};
  std::atomic<std::size_t> most{0};
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 50; ++i) {
        try {
          auto lease = pool.acquire(home((t + i) % 4), soon());
          const std::size_t now = ++held;
          std::size_t seen = most;
          while (seen < now && !most.compare_exchange_weak(seen, now)) {
          }
          SessionTransaction tx(lease.session(), home((t + i) % 4), TxMode::write, soon());
          lease->execute("INSERT INTO item VALUES (NULL)");
          tx.commit();
          --held;
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(most <= size_max);
  CHECK(pool.open_count() <= size_max);
  std::int64_t rows = 0;
  for (std::uint32_t shard = 0; shard < 4; ++shard)
    rows += pool.acquire(home(shard), soon())->integer("SELECT count(*) FROM item");
  CHECK(rows == 400);
  pool.close_idle();
  CHECK(pool.open_count() == 0);
}
