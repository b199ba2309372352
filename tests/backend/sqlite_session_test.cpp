#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>

#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

const std::vector<std::string> items{"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"};

// Runs `work` in a child process and returns its exit status.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 99;
    try {
      status = work();
    } catch (...) {
      status = 98;
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

int as_status(std::optional<ErrorCode> code) { return code ? static_cast<int>(*code) : 96; }

}  // namespace

TEST_CASE("a home that is not there is told from a node that is not there") {
  SqliteFixture fixture;
  const auto backend = fixture.open_node("a");
  const HomeName home{"shop", ShardId{7}};
  const auto connect = [&] { backend->connect(home, SessionUse::application); };
  CHECK(error_of(connect) == ErrorCode::unavailable);
  CHECK(error_of([&] { backend->home_exists(home); }) == ErrorCode::unavailable);
  CHECK(error_of([&] { backend->homes("shop"); }) == ErrorCode::unavailable);
  CHECK(error_of([&] { backend->ping(); }) == ErrorCode::unavailable);
  backend->prepare_node();
  CHECK(error_of(connect) == ErrorCode::not_found);
  CHECK(message_of(connect).find("shop_7.db") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(fixture.file("a", "shop_7")));
}

TEST_CASE("a session notices before a write that its home was removed or replaced") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  home.run("INSERT INTO item VALUES (1, 'x')");
  const auto write = [&] { SessionTransaction(session, home.name(), TxMode::write, soon()); };
  home.backend().drop_home(home.name());
  SECTION("removed") { CHECK(error_of(write) == ErrorCode::not_found); }
  SECTION("replaced") {
    HomeSchema schema;
    schema.statements = items;
    home.backend().create_home(home.name(), at_rest(), schema);
    CHECK(error_of(write) == ErrorCode::not_found);
  }
  CHECK_FALSE(session.usable());
  CHECK(error_of(write) == ErrorCode::unavailable);
}

TEST_CASE("a session notices what an operator does to the file of its home") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  const auto file = fixture.file("a", "shop_7");
  const TxMode mode = GENERATE(TxMode::read, TxMode::write);
  const auto begin = [&] { SessionTransaction(home.application(), home.name(), mode, soon()); };
  for (int i = 0; i < 3; ++i) REQUIRE(error_of(begin) == std::nullopt);
  SECTION("moved away") { std::filesystem::rename(file, file.string() + ".old"); }
  SECTION("replaced") {
    std::filesystem::copy_file(file, file.string() + ".new");
    std::filesystem::rename(file.string() + ".new", file);
  }
  SECTION("moved with its directory") {
    std::filesystem::rename(file.parent_path(), fixture.folder() / "old");
  }
  CHECK(error_of(begin) == ErrorCode::not_found);
}

TEST_CASE("a file that is another home's is not taken for this one") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  std::filesystem::copy_file(fixture.file("a", "shop_7"), fixture.file("a", "shop_8"));
  const HomeName copy{"shop", ShardId{8}};
  const auto session = home.backend().connect(copy, SessionUse::application);
  const auto begin = [&] { SessionTransaction(*session, copy, TxMode::read, soon()); };
  CHECK(error_of(begin) == ErrorCode::corrupt);
  CHECK_FALSE(session->usable());
}

TEST_CASE("a file that is no database is called damaged") {
  SqliteFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  fixture.folder().write("a/shop_7.db", std::string(8192, 'x'));
  const HomeName home{"shop", ShardId{7}};
  CHECK(error_of([&] {
          const auto session = backend->connect(home, SessionUse::application);
          SessionTransaction(*session, home, TxMode::write, soon());
        }) == ErrorCode::corrupt);
}

TEST_CASE("an empty file holds no home") {
  SqliteFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  fixture.folder().write("a/shop_7.db", "");
  const HomeName home{"shop", ShardId{7}};
  const auto session = backend->connect(home, SessionUse::application);
  SessionTransaction tx(*session, home, TxMode::read, soon());
  CHECK_FALSE(tx.record().has_value());
}

TEST_CASE("who holds the write lock is named") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  SessionTransaction tx(home.application(), home.name(), TxMode::write, soon());
  const std::string own = message_of([&] {
    const auto other = home.another();
    SessionTransaction(*other, home.name(), TxMode::write, at_once());
  });
  CHECK(own.find("this process") != std::string::npos);
  CHECK(own.find("shop_7") != std::string::npos);
  const std::string holder = "process " + std::to_string(getpid()) + " ";
  const int status = in_child([&] {
    const auto node = fixture.open_node("a");
    const auto session = node->connect(home.name(), SessionUse::application);
    return message_of([&] {
             SessionTransaction(*session, home.name(), TxMode::write, at_once());
           }).find(holder) == std::string::npos
               ? 1
               : 0;
  });
  CHECK(status == 0);
  // Asking for the holder must not have cost it its lock.
  CHECK(error_of([&] {
          const auto other = home.another();
          SessionTransaction(*other, home.name(), TxMode::write, at_once());
        }) == ErrorCode::conflict);
  home.application().execute("INSERT INTO item VALUES (1, 'x')");
  tx.commit();
}

TEST_CASE("a home that may only be read serves reads and refuses writes") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'x')");
  // Root may write anything, so somebody else tries.
  std::filesystem::permissions(fixture.folder().path(), std::filesystem::perms(0755));
  const int status = in_child([&] {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 50;
    const auto node = fixture.open_node("a");
    const auto session = node->connect(home.name(), SessionUse::application);
    if (session->integer("SELECT count(*) FROM item") != 1) return 51;
    return as_status(
        error_of([&] { SessionTransaction(*session, home.name(), TxMode::write, soon()); }));
  });
  if (getuid() == 0)
    CHECK(status == static_cast<int>(ErrorCode::read_only));
  else
    skip_test("only root can become somebody else");
}

TEST_CASE("a full disk is reported as such, and what was begun is not there") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'x')");
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto node = fixture.open_node("a");
    const auto session = node->connect(home.name(), SessionUse::application);
    const auto code = error_of([&] {
      SessionTransaction tx(*session, home.name(), TxMode::write, soon());
      session->execute("INSERT INTO item VALUES (2, $1)",
                       {std::string_view(std::string(1U << 20U, 'x'))});
      tx.commit();
    });
    if (session->in_transaction() || !session->usable()) return 50;
    if (session->integer("SELECT count(*) FROM item") != 1) return 51;
    // Something smaller still fits.
    SessionTransaction tx(*session, home.name(), TxMode::write, soon());
    session->execute("INSERT INTO item VALUES (3, 'small')");
    tx.commit();
    return as_status(code);
  });
  CHECK(status == static_cast<int>(ErrorCode::storage_full));
  CHECK(home.digest("item").rows == 2);
}

TEST_CASE("errors carry SQLite's extended code") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  try {
    home.run("INSERT INTO item VALUES (1, 'x'), (1, 'y')");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.sqlstate() == std::to_string(SQLITE_CONSTRAINT_PRIMARYKEY));
    CHECK(std::string(error.what()).find("item.id") != std::string::npos);
    CHECK(std::string(error.what()).find("shop_7") != std::string::npos);
  }
}

TEST_CASE("after an error that ended the transaction nothing more is written") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  {
    SessionTransaction tx(session, home.name(), TxMode::write, soon());
    session.execute("INSERT INTO item VALUES (1, 'x')");
    CHECK(error_of([&] { session.execute("INSERT OR ROLLBACK INTO item VALUES (1, 'y')"); }) ==
          ErrorCode::constraint);
    CHECK(error_of([&] { session.execute("INSERT INTO item VALUES (2, 'y')"); }) == ErrorCode::sql);
    CHECK(error_of([&] { tx.commit(); }) == ErrorCode::sql);
  }
  CHECK(home.digest("item").rows == 0);
  home.run("INSERT INTO item VALUES (3, 'z')");
}

TEST_CASE("a savepoint does not begin a transaction of its own") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  CHECK(error_of([&] { home.application().execute("SAVEPOINT here"); }) == ErrorCode::refused);
  home.run("INSERT INTO item VALUES (1, 'x')");
}

TEST_CASE("the native handle can not write in a read transaction") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  const auto insert = [](sqlite3* handle) {
    return sqlite3_exec(handle, "INSERT INTO item VALUES (NULL, 'x')", nullptr, nullptr, nullptr);
  };
  {
    SessionTransaction tx(session, home.name(), TxMode::read, soon());
    CHECK(insert(static_cast<sqlite3*>(session.native_handle())) != SQLITE_OK);
  }
  SessionTransaction tx(session, home.name(), TxMode::write, soon());
  CHECK(insert(static_cast<sqlite3*>(session.native_handle())) == SQLITE_OK);
  tx.commit();
  CHECK(home.digest("item").rows == 1);
}

TEST_CASE("foreign keys that only hold at the end fail the commit, which then did not happen") {
  SqliteFixture fixture;
  TestHome home(
      fixture.open_node("a"), at_rest(),
      {"CREATE TABLE parent (id INTEGER PRIMARY KEY)",
       "CREATE TABLE child (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parent (id) "
       "DEFERRABLE INITIALLY DEFERRED)"});
  Session& session = home.application();
  CHECK(error_of([&] { home.run("INSERT INTO child VALUES (1, 5)"); }) == ErrorCode::constraint);
  CHECK_FALSE(session.in_transaction());
  CHECK(session.usable());
  CHECK(home.digest("child").rows == 0);
}

TEST_CASE("more statements than are kept all go on working") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  Session& session = home.application();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 300; ++i) CHECK(session.integer("SELECT " + std::to_string(i)) == i);
  }
}

TEST_CASE("a query that outlives many others keeps its rows") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  home.run("INSERT INTO item VALUES (1, 'a'), (2, 'b')");
  Session& session = home.application();
  std::string names;
  session.for_each("SELECT name FROM item ORDER BY id", {}, [&](RowView row) {
    names += std::get<std::string_view>(row[0]);
    for (int i = 0; i < 300; ++i) session.integer("SELECT " + std::to_string(i));
    return true;
  });
  CHECK(names == "ab");
}

TEST_CASE("a catalog is made on request and otherwise must be there") {
  TemporaryFolder folder;
  const std::string dsn = "sqlite:" + (folder / "some/where/catalog.db").string();
  CHECK(error_of([&] { connect_catalog(dsn, system_clock(), false); }) == ErrorCode::not_found);
  {
    const auto session = connect_catalog(dsn, system_clock(), true);
    SessionTransaction tx(*session, TxMode::write, soon());
    session->run_script("CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);");
    tx.commit();
  }
  const auto session = connect_catalog(dsn, system_clock(), false);
  SessionTransaction tx(*session, TxMode::read, soon());
  CHECK(session->integer("SELECT id FROM a") == 1);
}

TEST_CASE("sessions commit to the storage as the options say") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(), items);
  CHECK(home.application().integer("PRAGMA synchronous") == 2);
  CHECK(home.application().integer("PRAGMA foreign_keys") == 1);
  CHECK(home.store().session().integer("PRAGMA foreign_keys") == 0);
  home.store().session().set_durable(false);
  CHECK(home.store().session().integer("PRAGMA synchronous") == 1);
  home.store().session().set_durable(true);
  CHECK(home.store().session().integer("PRAGMA synchronous") == 2);
  BackendOptions options;
  options.sqlite = {.synchronous_full = false, .foreign_keys = false};
  const auto node =
      open_backend("sqlite:" + (fixture.folder() / "a").string(), system_clock(), options);
  const auto session = node->connect(home.name(), SessionUse::application);
  CHECK(session->integer("PRAGMA synchronous") == 1);
  CHECK(session->integer("PRAGMA foreign_keys") == 0);
  CHECK(std::get<std::string>(session->first_row("PRAGMA journal_mode")->front()) == "wal");
}
