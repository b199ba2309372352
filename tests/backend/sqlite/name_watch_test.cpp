#include "backend/sqlite/name_watch.hpp"

#include <filesystem>
#include <fstream>
#include <functional>

#include "support/catch.hpp"
#include "support/paths.hpp"

namespace fs = std::filesystem;
using ringshard::sqlite::NameWatch;
using ringshard::testing::TemporaryFolder;

namespace {

// <folder>/above/node/file, watched.
struct Watched {
  TemporaryFolder folder;
  fs::path above = fs::canonical(folder.path()) / "above";
  fs::path file = above / "node" / "file";
  NameWatch watch;

  Watched() {
    fs::create_directories(file.parent_path());
    write(file);
    REQUIRE(watch.add(file));
  }
  static void write(const fs::path& path) { std::ofstream(path) << "text"; }
  bool notices(const std::function<void()>& work) {
    const auto before = watch.changes();
    work();
    return watch.changes() != before;
  }
};

}  // namespace

TEST_CASE("whatever takes a file away from its name is noticed") {
  Watched it;
  const fs::path other = it.file.string() + ".other";
  SECTION("removed") {
    CHECK(it.notices([&] { fs::remove(it.file); }));
  }
  SECTION("renamed") {
    CHECK(it.notices([&] { fs::rename(it.file, other); }));
  }
  SECTION("replaced") {
    Watched::write(other);
    CHECK(it.notices([&] { fs::rename(other, it.file); }));
  }
  SECTION("its directory renamed") {
    CHECK(it.notices([&] { fs::rename(it.file.parent_path(), it.above / "elsewhere"); }));
  }
  SECTION("a directory further up renamed") {
    CHECK(it.notices([&] { fs::rename(it.above, it.above.string() + ".old"); }));
  }
  SECTION("after something that changed nothing") {
    fs::create_hard_link(it.file, other);
    CHECK(it.notices([&] { fs::remove(other); }));
    CHECK(it.notices([&] { fs::remove(it.file); }));
  }
}

TEST_CASE("what leaves a file at its name is not taken for a change") {
  Watched it;
  it.watch.changes();
  CHECK_FALSE(it.notices([&] { Watched::write(it.file); }));
  CHECK_FALSE(it.notices([&] {
    const fs::path neighbour = it.file.string() + ".neighbour";
    Watched::write(neighbour);
    fs::permissions(neighbour, fs::perms::owner_read);
    fs::remove(neighbour);
  }));
}

TEST_CASE("a file that is not there can not be watched") {
  const TemporaryFolder folder;
  NameWatch watch;
  CHECK_FALSE(watch.add(fs::canonical(folder.path()) / "missing"));
}
