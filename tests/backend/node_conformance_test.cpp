#include <algorithm>

#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

const HomeName home{"shop", ShardId{7}};

HomeSchema items() {
  HomeSchema schema;
  schema.statements = {"CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)"};
  return schema;
}

}  // namespace

CONFORMANCE_TEST_CASE("a home is there from its creation until it is dropped") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  backend->prepare_node();
  backend->ping();
  CHECK_FALSE(backend->home_exists(home));
  backend->create_home(home, at_rest(), items());
  CHECK(backend->home_exists(home));
  CHECK(backend->home_bytes(home) > 0);
  CHECK(error_of([&] { backend->create_home(home, mirror(), items()); }) ==
        ErrorCode::already_exists);
  {
    const auto session = backend->connect(home, SessionUse::application);
    SessionTransaction tx(*session, home, TxMode::write, soon());
    CHECK(tx.record() == at_rest());
    session->execute("INSERT INTO item VALUES (1, 'x')");
    tx.commit();
  }
  backend->drop_home(home);
  CHECK_FALSE(backend->home_exists(home));
  backend->drop_home(home);
  backend->create_home(home, mirror(), items());
  const auto session = backend->connect(home, SessionUse::application);
  SessionTransaction tx(*session, home, TxMode::read, soon());
  CHECK(tx.record() == mirror());
  CHECK(session->integer("SELECT count(*) FROM item") == 0);
}

CONFORMANCE_TEST_CASE("a home is removed on a condition only under its lock") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  CHECK(backend->drop_home_if(
      home, [](const auto&) { return false; }, soon()));
  backend->create_home(home, mirror(), items());

  CHECK_FALSE(backend->drop_home_if(
      home, [](const auto& record) { return record != mirror(); }, soon()));
  CHECK(backend->home_exists(home));

  const auto other = backend->connect(home, SessionUse::maintenance);
  const bool gone = backend->drop_home_if(
      home,
      [&](const auto& record) {
        // Nobody can make it the owner now.
        CHECK(error_of([&] {
                SessionTransaction(*other, home, TxMode::exclusive,
                                   Deadline::after(system_clock(), std::chrono::milliseconds(1)));
              }) == ErrorCode::conflict);
        return record == mirror();
      },
      soon());
  CHECK(gone);
  CHECK_FALSE(backend->home_exists(home));
  backend->create_home(home, at_rest(), items());
  // A session that is bound to the old home says so, one that is not is in the new one.
  std::optional<HomeRecord> found;
  const auto code = error_of([&] {
    SessionTransaction tx(*other, home, TxMode::exclusive, soon());
    found = tx.record();
  });
  CHECK((code == ErrorCode::not_found || found == at_rest()));
}

CONFORMANCE_TEST_CASE("a home whose tables can not be made is not made at all") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  HomeSchema broken = items();
  broken.statements.push_back("CREATE TABLE item (id BIGINT PRIMARY KEY)");
  CHECK(error_of([&] { backend->create_home(home, at_rest(), broken); }) == ErrorCode::sql);
  CHECK_FALSE(backend->home_exists(home));
  CHECK(backend->homes("shop").empty());
  backend->create_home(home, at_rest(), items());
}

CONFORMANCE_TEST_CASE("the homes of one keyspace are listed, and no others") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  CHECK(backend->homes("shop").empty());
  for (const HomeName& name : {HomeName{"shop", ShardId{12}}, HomeName{"shop", ShardId{3}},
                               HomeName{"shop_1", ShardId{2}}, HomeName{"sho", ShardId{1}}}) {
    HomeRecord record = at_rest();
    record.keyspace = name.keyspace;
    record.shard = *name.shard;
    backend->create_home(name, record, items());
  }
  backend->create_home({"shop", std::nullopt}, std::nullopt, items());
  std::string names;
  for (const HomeName& name : backend->homes("shop")) names += name.str() + " ";
  CHECK(names == "shop_reference shop_3 shop_12 ");
  CHECK(backend->homes("shop_1").size() == 1);
  CHECK(backend->homes("sh").empty());
}

CONFORMANCE_TEST_CASE("sessions that may be exchanged have equal keys") {
  SelectedFixture fixture;
  const auto backend = fixture.open_node("a");
  CHECK(backend->session_key(home) == backend->session_key(HomeName{"shop", ShardId{7}}));
}

TEST_CASE("a DSN that no backend knows is refused without showing it") {
  for (const char* dsn : {"oracle:secret", "nothing", "", "sqlite:"}) {
    CHECK(error_of([&] { open_backend(dsn, system_clock()); }) == ErrorCode::invalid_argument);
    CHECK(error_of([&] { connect_catalog(dsn, system_clock(), true); }) ==
          ErrorCode::invalid_argument);
  }
  CHECK(message_of([] { open_backend("oracle:secret", system_clock()); }).find("secret") ==
        std::string::npos);
}
