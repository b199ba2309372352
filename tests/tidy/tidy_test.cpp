// Rules of the code base that a compiler does not check: which layer may include which, which
// third-party header may be named where, and a few things that no file may contain.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/paths.hpp"

namespace fs = std::filesystem;

namespace {

struct SourceFile {
  std::string path;  // relative to the root of the source tree, with slashes
  std::vector<std::string> lines;
};

fs::path root() { return ringshard::testing::tests_folder().parent_path(); }

const std::vector<SourceFile>& sources() {
  static const std::vector<SourceFile> files = [] {
    std::vector<SourceFile> found;
    for (const char* folder : {"include", "src", "migrator", "tests"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
        const fs::path extension = entry.path().extension();
        if (extension != ".cpp" && extension != ".hpp") continue;
        SourceFile file{fs::relative(entry.path(), root()).generic_string(), {}};
        std::istringstream text(ringshard::testing::read_file(entry.path()));
        for (std::string line; std::getline(text, line);) file.lines.push_back(line);
        found.push_back(std::move(file));
      }
    }
    return found;
  }();
  return files;
}

struct Include {
  std::string header;  // as written between <> or ""
  std::string where;   // path:line
};

std::vector<Include> includes(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::vector<Include> found;
  std::smatch match;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    if (std::regex_match(file.lines[i], match, pattern)) {
      found.push_back({match[1], file.path + ":" + std::to_string(i + 1)});
    }
  }
  return found;
}

bool starts_with_one_of(const std::string& text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return text.rfind(prefix, 0) == 0; });
}

// The layer of a file or of a header as it is included: the longest entry that it starts with.
std::string layer_of(const std::string& path) {
  static const std::vector<std::string> layers = {
      "core/",     "support/",   "config/", "backend/sqlite/", "backend/postgres/",
      "backend/",  "catalog/",   "router/", "migrator/mover/", "migrator/demo/",
      "migrator/", "ringshard/", "schemas/"};
  // The parts of the migrator are found both from the root and from its folder.
  const std::string full = fs::exists(root() / "migrator" / path) ? "migrator/" + path : path;
  for (const std::string& layer : layers) {
    if (full.rfind(layer, 0) == 0) return layer;
  }
  return "";
}

std::string without_root(const std::string& path) {
  for (const char* start : {"src/", "include/"}) {
    if (path.rfind(start, 0) == 0) return path.substr(std::string(start).size());
  }
  return path;
}

bool is_test(const SourceFile& file) { return file.path.rfind("tests/", 0) == 0; }

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Every line that matches, as path:line: text. This file, which holds the patterns, is left out.
std::vector<std::string> lines_with(const std::regex& pattern, bool (*wanted)(const SourceFile&)) {
  std::vector<std::string> found;
  for (const SourceFile& file : sources()) {
    if (!wanted(file) || file.path == "tests/tidy/tidy_test.cpp") continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      if (std::regex_search(file.lines[i], pattern)) {
        found.push_back(file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i]);
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a layer includes only the layers that it may") {
  // Public headers are open to all: what is reachable from them is another test.
  const std::map<std::string, std::set<std::string>> allowed = {
      {"ringshard/", {}},
      {"core/", {"core/"}},
      {"support/", {"core/", "support/"}},
      {"config/", {"core/", "support/", "config/"}},
      {"backend/", {"core/", "support/", "backend/", "schemas/"}},
      {"backend/sqlite/", {"core/", "support/", "backend/", "backend/sqlite/", "schemas/"}},
      {"backend/postgres/", {"core/", "support/", "backend/", "backend/postgres/", "schemas/"}},
      {"catalog/", {"core/", "support/", "backend/", "catalog/", "schemas/"}},
      {"router/", {"core/", "support/", "config/", "backend/", "catalog/", "router/", "schemas/"}},
      {"migrator/mover/",
       {"core/", "support/", "backend/", "catalog/", "migrator/mover/", "schemas/"}},
      {"migrator/",
       {"core/", "support/", "config/", "backend/", "catalog/", "router/", "migrator/mover/",
        "migrator/", "schemas/"}},
      {"migrator/demo/", {"support/", "migrator/demo/"}},
  };
  std::vector<std::string> broken;
  for (const SourceFile& file : sources()) {
    if (is_test(file)) continue;
    const std::string own = layer_of(without_root(file.path));
    INFO(file.path);
    REQUIRE(allowed.count(own) == 1);
    for (const Include& include : includes(file)) {
      const std::string other = layer_of(include.header);
      if (other.empty() || other == "ringshard/" || allowed.at(own).count(other) == 1) continue;
      broken.push_back(include.where + " includes " + include.header);
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("a third-party header is included only where it belongs") {
  // Header prefix → the folders that may include it. Tests look into databases and JSON themselves.
  const std::map<std::string, std::vector<std::string>> homes = {
      {"xxhash", {"src/core/", "tests/"}},
      {"sqlite3", {"src/backend/sqlite/", "migrator/demo/", "tests/"}},
      {"pqxx", {"src/backend/postgres/", "tests/"}},
      {"libpq", {"src/backend/postgres/", "tests/"}},
      {"yaml-cpp", {"src/config/document.cpp"}},
      {"spdlog", {"src/support/"}},
      {"fmt/", {}},
      {"CLI/", {"migrator/"}},
      {"nlohmann",
       {"src/backend/portable/json.cpp", "migrator/report/", "migrator/plan/plan_file.cpp",
        "migrator/demo/", "tests/"}},
      {"catch2", {"tests/support/"}},
      {"benchmark/", {"tests/bench/"}},
  };
  std::vector<std::string> broken;
  for (const SourceFile& file : sources()) {
    for (const Include& include : includes(file)) {
      for (const auto& [prefix, folders] : homes) {
        if (include.header.rfind(prefix, 0) != 0 || starts_with_one_of(file.path, folders))
          continue;
        broken.push_back(include.where + " includes " + include.header);
      }
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("the mover knows no command line and no JSON library") {
  std::vector<std::string> broken;
  for (const SourceFile& file : sources()) {
    if (file.path.rfind("migrator/mover/", 0) != 0) continue;
    for (const Include& include : includes(file)) {
      if (starts_with_one_of(include.header, {"CLI/", "nlohmann"})) broken.push_back(include.where);
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("mover, router and catalog name no database") {
  const std::regex comment("//.*");
  std::vector<std::string> broken;
  for (const SourceFile& file : sources()) {
    if (!starts_with_one_of(file.path, {"migrator/mover/", "src/router/", "src/catalog/"}))
      continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::string code = std::regex_replace(file.lines[i], comment, "");
      std::transform(code.begin(), code.end(), code.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (code.find("sqlite") != std::string::npos || code.find("postgres") != std::string::npos)
        broken.push_back(file.path + ":" + std::to_string(i + 1) + ": " + file.lines[i]);
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("the public headers include the standard library and each other, nothing else") {
  std::vector<std::string> broken;
  for (const SourceFile& file : sources()) {
    if (file.path.rfind("include/", 0) != 0) continue;
    for (const Include& include : includes(file)) {
      const bool ours = include.header.rfind("ringshard/", 0) == 0 &&
                        fs::exists(root() / "include" / include.header);
      // A header of the standard library has neither a folder nor a suffix.
      const bool standard = include.header.find_first_of("/.") == std::string::npos;
      if (!ours && !standard) broken.push_back(include.where + " includes " + include.header);
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("the core has no clock, no thread, no lock and no stream") {
  std::vector<std::string> broken;
  const std::set<std::string> refused = {"thread", "mutex",    "shared_mutex", "condition_variable",
                                         "future", "iostream", "fstream",      "filesystem"};
  for (const SourceFile& file : sources()) {
    if (file.path.rfind("src/core/", 0) != 0) continue;
    for (const Include& include : includes(file)) {
      if (refused.count(include.header) == 1) {
        broken.push_back(include.where + " includes " + include.header);
      }
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("nothing sleeps but the clock") {
  const auto found =
      lines_with(std::regex(R"(this_thread::sleep|\b(usleep|nanosleep|sleep)\s*\()"),
                 [](const SourceFile& file) { return file.path != "src/support/clock.cpp"; });
  INFO(joined(found));
  CHECK(found.empty());
}

TEST_CASE("nothing is left open in the code") {
  const auto found = lines_with(std::regex(R"(\b(TODO|FIXME|XXX)\b|not implemented)"),
                                [](const SourceFile&) { return true; });
  INFO(joined(found));
  CHECK(found.empty());
}

TEST_CASE("every header has its guard, and file names are in snake case") {
  const std::regex name(R"([a-z0-9_]+\.(cpp|hpp))");
  std::vector<std::string> broken;
  for (const SourceFile& file : sources()) {
    if (!std::regex_match(fs::path(file.path).filename().string(), name)) {
      broken.push_back(file.path + " is not in snake case");
    }
    const bool guarded =
        std::find(file.lines.begin(), file.lines.end(), "#pragma once") != file.lines.end();
    if (fs::path(file.path).extension() == ".hpp" && !guarded) {
      broken.push_back(file.path + " has no #pragma once");
    }
  }
  INFO(joined(broken));
  CHECK(broken.empty());
}

TEST_CASE("the names of tests can be handed to ctest") {
  // ctest's lists end at a semicolon and brackets swallow it; a comma is an "or" for Catch2.
  const auto found =
      lines_with(std::regex(R"(TEST_CASE\s*\(\s*"(\\.|[^"\\])*([;\[\]\\]))"), is_test);
  INFO(joined(found));
  CHECK(found.empty());
}
