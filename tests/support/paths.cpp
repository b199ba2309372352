#include "support/paths.hpp"

#include <stdlib.h>  // mkdtemp

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace ringshard::testing {

namespace fs = std::filesystem;

fs::path tests_folder() { return RINGSHARD_TESTS_DIR; }

fs::path ringshard_program() { return RINGSHARD_PROGRAM; }

fs::path demo_program() { return RINGSHARD_DEMO_PROGRAM; }

fs::path test_program(std::string_view name) { return fs::path(RINGSHARD_TEST_PROGRAMS) / name; }

std::optional<fs::path> shared_data(std::string_view relative) {
  const char* chosen = std::getenv("RINGSHARD_TEST_DATA");
  fs::path folder =
      chosen != nullptr && *chosen != '\0' ? fs::path(chosen) : fs::path(RINGSHARD_SHARED_DATA);
  fs::path path = folder / relative;
  if (!fs::exists(path)) return std::nullopt;
  return path;
}

void skip_test(std::string_view reason) { std::cout << "test skipped: " << reason << std::endl; }

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "ringshard-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("can not make the folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TemporaryFolder::write(std::string_view name, std::string_view text) const {
  fs::path path = path_ / name;
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("can not write " + path.string());
  return path;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can not read " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace ringshard::testing
