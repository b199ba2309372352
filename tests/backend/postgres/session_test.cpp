// What a session does over a network that can be watched and cut, with the real server behind it.

#include <chrono>
#include <memory>
#include <pqxx/pqxx>
#include <string>

#include "backend/conformance.hpp"
#include "support/catch.hpp"
#include "support/postgres.hpp"
#include "support/postgres_proxy.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

/// A home in a database of its own, and the network before it.
struct World {
  TestDatabase database;
  TestHome home{open_backend(database.dsn(), system_clock()),
                at_rest(),
                {"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)"}};
  PostgresProxy network{database.dsn()};

  std::unique_ptr<Session> far_session(SessionUse use) {
    return open_backend(network.dsn(), system_clock())->connect(home.name(), use);
  }
};

}  // namespace

TEST_CASE("a write with its ownership check takes as many round trips as one without") {
  if (no_server()) return;
  World world;
  const auto session = world.far_session(SessionUse::application);
  const std::int64_t before = world.network.round_trips();
  {
    SessionTransaction tx(*session, world.home.name(), TxMode::write, Deadline());
    REQUIRE(tx.record() == at_rest());
    session->execute("INSERT INTO item VALUES ($1, 'x')", {std::int64_t{1}});
    tx.commit();
  }
  const std::int64_t checked = world.network.round_trips() - before;

  pqxx::connection bare(world.network.dsn());
  const std::int64_t connected = world.network.round_trips();
  pqxx::work tx(bare);
  tx.exec_params("INSERT INTO shop_7.item VALUES ($1, 'x')", 2);
  tx.commit();
  CHECK(checked == world.network.round_trips() - connected);
}

TEST_CASE("a lock whose holder can not be reached any more is given back by the server") {
  if (no_server()) return;
  World world;
  const auto holder = world.far_session(SessionUse::maintenance);
  holder->begin_home(world.home.name(), TxMode::exclusive, soon());
  holder->set_statement_deadline(Deadline::after(system_clock(), std::chrono::milliseconds(300)));
  holder->execute("INSERT INTO item VALUES (1, 'of the holder')");
  world.network.hold_everything();
  world.home.run("INSERT INTO item VALUES (2, 'of another one')");
  CHECK(world.home.digest("item").rows == 1);
  // The deadline had passed before COMMIT, which is not sent then: nothing of it is in doubt.
  CHECK(error_of([&] { holder->commit(); }) == ErrorCode::timeout);
  CHECK_FALSE(holder->usable());
}

TEST_CASE("a server that does not answer is not waited for beyond the deadline") {
  if (no_server()) return;
  World world;
  const auto session = world.far_session(SessionUse::application);
  session->set_statement_deadline(Deadline::after(system_clock(), std::chrono::milliseconds(100)));
  session->begin_home(world.home.name(), TxMode::write, soon());
  world.network.hold_replies();
  CHECK(error_of([&] { session->execute("INSERT INTO item VALUES (1, 'x')"); }) ==
        ErrorCode::timeout);
  CHECK_FALSE(session->usable());
}

TEST_CASE("what ringshard itself commits waits for the disk, whatever the database says") {
  if (no_server()) return;
  World world;
  run_postgres(world.database.dsn(),
               "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit TO off', "
               "current_database()); END $$");
  const auto setting = [&world](SessionUse use, bool durable) {
    const auto session = world.home.another(use);
    session->set_durable(durable);
    SessionTransaction tx(*session, world.home.name(), TxMode::write, soon());
    return std::get<std::string>(
        session->rows("SELECT current_setting('synchronous_commit')")[0][0]);
  };
  CHECK(setting(SessionUse::maintenance, true) == "on");
  CHECK(setting(SessionUse::maintenance, false) == "off");
  CHECK(setting(SessionUse::application, true) == "off");
}

TEST_CASE("a commit whose answer is lost is unknown, and may have happened") {
  if (no_server()) return;
  World world;
  const auto session = world.far_session(SessionUse::application);
  session->begin_home(world.home.name(), TxMode::write, soon());
  session->execute("INSERT INTO item VALUES (1, 'x')");
  session->set_statement_deadline(Deadline::after(system_clock(), std::chrono::milliseconds(100)));
  world.network.hold_replies();
  CHECK(error_of([&] { session->commit(); }) == ErrorCode::outcome_unknown);
  CHECK(world.home.digest("item").rows == 1);
}

TEST_CASE("a transaction in which a statement failed is not reported as committed") {
  if (no_server()) return;
  World world;
  Session& session = world.home.application();
  SessionTransaction tx(session, world.home.name(), TxMode::write, soon());
  session.execute("INSERT INTO item VALUES (1, 'x')");
  CHECK_THROWS_AS(session.execute("INSERT INTO item VALUES (1, 'y')"), Error);
  CHECK(error_of([&] { tx.commit(); }) == ErrorCode::sql);
  CHECK(world.home.digest("item").rows == 0);
}

TEST_CASE("what a rollback may take is no deadline for what comes after it") {
  if (no_server()) return;
  World world;
  /// The real one, some time later.
  struct Later final : Clock {
    Duration ahead{0};
    TimePoint now() override { return system_clock().now() + ahead; }
    std::int64_t unix_ms() override { return system_clock().unix_ms(); }
    void sleep_for(std::chrono::microseconds duration) override {
      system_clock().sleep_for(duration);
    }
  } clock;
  const auto session = open_backend(world.database.dsn(), clock)
                           ->connect(world.home.name(), SessionUse::maintenance);
  { SessionTransaction tx(*session, world.home.name(), TxMode::read, Deadline()); }
  clock.ahead = std::chrono::minutes(1);
  SessionTransaction tx(*session, world.home.name(), TxMode::write, Deadline());
  CHECK(session->execute("INSERT INTO item VALUES (1, 'x')") == 1);
  CHECK(session->rows("SHOW statement_timeout") == std::vector<Row>{{std::string("0")}});
}

TEST_CASE("counters are raised in the direction in which they count, under their own names") {
  if (no_server()) return;
  World world;
  const auto counters = [&world] {
    return world.home.maintain(
        TxMode::read, [](HomeStore& store) { return store.dialect().counters(store.session()); });
  };
  const auto raise = [&world](std::int64_t last) {
    world.home.maintain(TxMode::write, [last](HomeStore& store) {
      store.dialect().raise_counters(store.session(), {{"down", "", last}});
      return 0;
    });
  };
  world.home.run("CREATE SEQUENCE down INCREMENT -1");
  CHECK(counters().empty());
  for (const std::int64_t last : {-5, -7, -6}) raise(last);
  REQUIRE(counters().size() == 1);
  CHECK(counters()[0].last == -7);

  world.home.run("CREATE TABLE first (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)");
  world.home.run("ALTER TABLE first RENAME TO second");
  HomeSchema schema = world.home.maintain(TxMode::read, [](HomeStore& store) {
    return store.dialect().describe_schema(store.session());
  });
  TestDatabase other;
  TestHome copy(open_backend(other.dsn(), system_clock()), at_rest(), schema.statements);
  copy.maintain(TxMode::write, [](HomeStore& store) {
    store.dialect().raise_counters(store.session(), {{"first_id_seq", "second", 9}});
    return 0;
  });
  copy.run("INSERT INTO second DEFAULT VALUES");
  CHECK(copy.fetch("second", key(10)).has_value());
}

TEST_CASE("libpqxx works inside the transaction that the router began") {
  if (no_server()) return;
  World world;
  Session& session = world.home.application();
  SessionTransaction tx(session, world.home.name(), TxMode::write, soon());
  auto& native = *static_cast<pqxx::transaction_base*>(session.native_handle());
  native.exec("INSERT INTO item VALUES (1, 'by pqxx')");
  CHECK(native.exec("SELECT name FROM item")[0][0].as<std::string>() == "by pqxx");
  tx.commit();
  CHECK(world.home.digest("item").rows == 1);
}

TEST_CASE("a password is in no message") {
  for (const char* dsn :
       {"postgresql://user:secret@127.0.0.1:1/shop", "postgres://u:secret@[::1/x"}) {
    std::string message;
    try {
      open_backend(dsn, system_clock())->ping();
    } catch (const Error& error) {
      message = error.what();
    }
    INFO(message);
    CHECK_FALSE(message.empty());
    CHECK(message.find("secret") == std::string::npos);
  }
}
