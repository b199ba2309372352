#include <sqlite3.h>

#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

// A session keeps the record that it has read for as long as nothing can have changed it.

namespace {

const std::vector<std::string> items{"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"};

std::optional<HomeRecord> record_seen_by(Session& session, const HomeName& home, TxMode mode) {
  SessionTransaction tx(session, home, mode, soon());
  return tx.record();
}

// The role is all that these tests change.
Role role_seen_by(Session& session, const HomeName& home, TxMode mode) {
  return record_seen_by(session, home, mode).value().role;
}

constexpr const char* hand_over = "UPDATE \"Ringshard_Home\" SET role = 'mirror'";

}  // namespace

TEST_CASE("a record changed by another session is seen by the next transaction of each kind") {
  SqliteFixture fixture;
  for (const TxMode mode : {TxMode::read, TxMode::write, TxMode::exclusive}) {
    const std::string node = "a" + std::to_string(static_cast<int>(mode));
    TestHome home(fixture.open_node(node), at_rest(), items);
    const auto backend = fixture.open_node(node);
    Session& session = home.application();
    const auto other = backend->connect(home.name(), SessionUse::maintenance);
    REQUIRE(role_seen_by(session, home.name(), mode) == Role::owner);
    REQUIRE(role_seen_by(session, home.name(), mode) == Role::owner);
    for (const char* role : {"mirror", "owner", "mirror"}) {
      {
        SessionTransaction tx(*other, home.name(), TxMode::exclusive, soon());
        other->execute("UPDATE ringshard_home SET role = $1", {std::string_view(role)});
        tx.commit();
      }
      CHECK(to_string(role_seen_by(session, home.name(), mode)) == role);
    }
  }
}

TEST_CASE("a record changed by a session itself is seen by its next transaction") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  REQUIRE(role_seen_by(session, home.name(), TxMode::write) == Role::owner);
  SECTION("by a statement") {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    session.execute(hand_over);
    tx.commit();
  }
  SECTION("by a statement that is prepared already") {
    for (int i = 0; i < 2; ++i) {
      SessionTransaction tx(session, home.name(), TxMode::write, soon());
      session.execute(hand_over);
      if (i == 1) tx.commit();
    }
  }
  SECTION("by a script") {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    session.run_script(std::string("DELETE FROM item; ") + hand_over);
    tx.commit();
  }
  SECTION("through the native handle") {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    auto* handle = static_cast<sqlite3*>(session.native_handle());
    REQUIRE(sqlite3_exec(handle, hand_over, nullptr, nullptr, nullptr) == SQLITE_OK);
    tx.commit();
  }
  CHECK(role_seen_by(session, home.name(), TxMode::read) == Role::mirror);
  CHECK(role_seen_by(session, home.name(), TxMode::write) == Role::mirror);
}

TEST_CASE("a record changed by another session between two writes of this one is seen") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const auto other = home.another(SessionUse::maintenance);
  const bool writes = GENERATE(true, false);
  for (const char* role : {"mirror", "owner", "mirror"}) {
    home.apply([&](Session& session) {
      if (writes) session.execute("INSERT INTO item (name) VALUES ('x')");
    });
    {
      SessionTransaction tx(*other, home.name(), TxMode::exclusive, soon());
      other->execute("UPDATE ringshard_home SET role = $1", {std::string_view(role)});
      tx.commit();
    }
    CHECK(to_string(role_seen_by(home.application(), home.name(), TxMode::write)) == role);
    CHECK(to_string(role_seen_by(home.application(), home.name(), TxMode::read)) == role);
  }
}

TEST_CASE("a change of the record that was rolled back is not seen") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    session.execute(hand_over);
  }
  CHECK(role_seen_by(session, home.name(), TxMode::read) == Role::owner);
  CHECK(role_seen_by(session, home.name(), TxMode::write) == Role::owner);
}

TEST_CASE("a home without a record any more has none in the next transaction") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const auto backend = fixture.open_node("a");
  Session& session = home.application();
  REQUIRE(record_seen_by(session, home.name(), TxMode::read));
  const auto other = backend->connect(home.name(), SessionUse::maintenance);
  {
    SessionTransaction tx(*other, home.name(), TxMode::exclusive, soon());
    other->execute("DELETE FROM ringshard_home");
    tx.commit();
  }
  CHECK_FALSE(record_seen_by(session, home.name(), TxMode::read));
}
