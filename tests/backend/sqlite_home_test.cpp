#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "backend/fixtures.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace fs = std::filesystem;

namespace {

const HomeName home_7{"shop", ShardId{7}};

HomeSchema items() {
  HomeSchema schema;
  schema.statements = {"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)"};
  return schema;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// The id of a process that is no more.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

TEST_CASE("a new home is one file in WAL mode") {
  SqliteFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  backend->create_home(home_7, at_rest(), items());
  CHECK(files_in(fixture.folder() / "a") == std::vector<std::string>{"shop_7.db"});
  const std::string header = read_file(fixture.file("a", "shop_7")).substr(0, 20);
  CHECK(header[18] == 2);
  CHECK(header[19] == 2);
}

TEST_CASE("what a killed maker of homes left behind goes away") {
  SqliteFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  const std::string left = "a/.new/shop_7." + std::to_string(dead_process()) + ".0";
  const std::string alive = "a/.new/shop_7." + std::to_string(getpid()) + ".999";
  for (const std::string& name : {left, left + "-wal", alive}) fixture.folder().write(name, "x");
  CHECK(backend->homes("shop").empty());
  SECTION("when the node is prepared") { backend->prepare_node(); }
  SECTION("when the home is made") { backend->create_home(home_7, at_rest(), items()); }
  CHECK_FALSE(fs::exists(fixture.folder() / left));
  CHECK_FALSE(fs::exists(fixture.folder() / (left + "-wal")));
  CHECK(fs::exists(fixture.folder() / alive));
}

TEST_CASE("a new home does not read the write-ahead log of one that was there before") {
  SqliteFixture fixture;
  const auto backend = fixture.open_node("a");
  backend->prepare_node();
  backend->create_home(home_7, at_rest(), items());
  std::string wal;
  {
    const auto session = backend->connect(home_7, SessionUse::application);
    SessionTransaction tx(*session, home_7, TxMode::write, soon());
    session->execute("INSERT INTO item VALUES (1, 'old')");
    tx.commit();
    wal = read_file(fixture.file("a", "shop_7").string() + "-wal");
  }
  // Killed in the middle of drop_home: the name is gone, the log is not.
  fs::remove(fixture.file("a", "shop_7"));
  fixture.folder().write("a/shop_7.db-wal", wal);
  fixture.folder().write("a/.shop_7.dropped", "x");
  SECTION("made again at once") {}
  SECTION("dropped again first") {
    backend->drop_home(home_7);
    CHECK(files_in(fixture.folder() / "a").empty());
  }
  backend->create_home(home_7, at_rest(), items());
  const auto session = backend->connect(home_7, SessionUse::application);
  CHECK(session->integer("SELECT count(*) FROM item") == 0);
}

TEST_CASE("a dropped home leaves nothing, whoever has it open") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), mirror(), items().statements);
  Session& reader = home.application();
  SessionTransaction tx(reader, home.name(), TxMode::read, soon());
  home.backend().drop_home(home.name());
  CHECK(files_in(fixture.folder() / "a").empty());
  CHECK(tx.record()->role == Role::mirror);
  CHECK(reader.integer("SELECT count(*) FROM item") == 0);
}

TEST_CASE("makers of the same home get one home") {
  SqliteFixture fixture;
  fixture.open_node("a")->prepare_node();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const auto backend = fixture.open_node("a");
      const auto code = error_of([&] { backend->create_home(home_7, at_rest(), items()); });
      _exit(!code ? 0 : *code == ErrorCode::already_exists ? 1 : 2);
    }
    children.push_back(child);
  }
  int made = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) < 2);
    if (WEXITSTATUS(status) == 0) ++made;
  }
  CHECK(made == 1);
  CHECK(files_in(fixture.folder() / "a") == std::vector<std::string>{"shop_7.db"});
}

TEST_CASE("rows that REPLACE removes for a further unique key are noted") {
  SqliteFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE account (id INTEGER PRIMARY KEY, email TEXT COLLATE NOCASE "
                   "UNIQUE, area TEXT, code INTEGER)",
                   "CREATE UNIQUE INDEX place ON account (area COLLATE NOCASE, code) "
                   "WHERE code > 0"});
  pair.owner.run(
      "INSERT INTO account VALUES (1, 'a', 'x', 1), (2, 'b', 'x', 2), (3, 'c', 'y', 0), "
      "(4, 'd', 'y', 0)");
  pair.tail();
  const auto check_equal = [&] {
    pair.tail();
    CHECK(pair.owner.digest("account") == pair.target.digest("account"));
  };
  SECTION("insert") { pair.owner.run("INSERT OR REPLACE INTO account VALUES (9, 'A', 'X', 2)"); }
  SECTION("update") { pair.owner.run("UPDATE OR REPLACE account SET email = 'B' WHERE id = 1"); }
  SECTION("update of the partial key") {
    pair.owner.run("UPDATE OR REPLACE account SET area = 'X', code = 2 WHERE id = 3");
  }
  SECTION("update of the primary key") {
    pair.owner.run("UPDATE OR REPLACE account SET id = 2 WHERE id = 1");
  }
  CHECK(pair.owner.digest("account").rows < 5);
  check_equal();
}

TEST_CASE("REPLACE as a column's own rule, and rows without rowid, are captured") {
  SqliteFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE t (a TEXT, b TEXT UNIQUE ON CONFLICT REPLACE, PRIMARY KEY "
                   "(a)) WITHOUT ROWID"});
  pair.owner.run("INSERT INTO t VALUES ('1', 'x'), ('2', 'y')");
  pair.tail();
  pair.owner.run("INSERT INTO t VALUES ('3', 'x')");
  CHECK(pair.owner.digest("t").rows == 2);
  pair.tail();
  CHECK(pair.owner.digest("t") == pair.target.digest("t"));
}

TEST_CASE("what the application's own triggers write is captured once and not repeated") {
  SqliteFixture fixture;
  MovingPair pair(fixture,
                  {"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)",
                   "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER)",
                   "CREATE TRIGGER note AFTER INSERT ON item BEGIN INSERT INTO history (item) "
                   "VALUES (NEW.id); END"});
  pair.owner.run("INSERT INTO item VALUES (1, 'a'), (2, 'b')");
  CHECK(pair.owner.log().size() == 4);
  pair.tail();
  CHECK(pair.owner.digest("history") == pair.target.digest("history"));
  CHECK(pair.target.digest("history").rows == 2);
}

TEST_CASE("an open session notes changes when capture is installed by another one") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), moving_owner(), items().statements);
  home.run("INSERT INTO item VALUES (1, 'a')");
  home.install_capture();
  home.run("INSERT INTO item VALUES (2, 'a')");
  CHECK(home.logged() == "item(2)");
}

TEST_CASE("SQLite's own obstacles are named with what to do") {
  SqliteFixture fixture;
  TestHome home(fixture.open_node("a"), at_rest(),
                {"CREATE TABLE fine (id INTEGER PRIMARY KEY, v TEXT COLLATE NOCASE UNIQUE)",
                 "CREATE TABLE nulls (a TEXT, b TEXT, PRIMARY KEY (a, b))",
                 "CREATE TABLE e (id INTEGER PRIMARY "
                 "KEY, v TEXT)",
                 "CREATE UNIQUE INDEX folded ON e (lower(v))",
                 "CREATE TABLE two (id TEXT, PRIMARY KEY (id COLLATE NOCASE))",
                 "CREATE VIRTUAL TABLE words USING fts5 (body)"});
  home.run("INSERT INTO nulls VALUES ('a', NULL)");
  std::string found;
  home.maintain(TxMode::read, [&](HomeStore& store) {
    const HomeSchema schema = store.dialect().describe_schema(store.session());
    for (const Obstacle& obstacle : store.dialect().obstacles(store.session(), schema))
      found += obstacle.object + " ";
    return 0;
  });
  CHECK(found == "words nulls e two ");
}
