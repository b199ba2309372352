#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ringshard::testing {

/// The folder tests/ of the source tree.
std::filesystem::path tests_folder();

/// The built program ringshard.
std::filesystem::path ringshard_program();

/// The built program ringshard-demo: an application that keeps book of what was acknowledged.
std::filesystem::path demo_program();

/// A program built from tests/**/<name>.cpp, where name ends in _program.
std::filesystem::path test_program(std::string_view name);

/// A file of the real data sets ("chinook/chinook.sqlite"), or nothing if it is not there. They lie
/// in the folder that the environment variable RINGSHARD_TEST_DATA names, else in shared/data
/// beside the source tree.
std::optional<std::filesystem::path> shared_data(std::string_view relative);

/// Tells ctest that the running test was skipped, and why; the test then returns.
///
///     const auto shop = shared_data("chinook/chinook.sqlite");
///     if (!shop) return skip_test("no chinook.sqlite");
void skip_test(std::string_view reason);

/// A folder that is made empty under the system's temporary folder, and removed with all that is in
/// it at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// The path of something inside, whether it exists or not.
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Writes a file inside and returns its path; folders on the way are made.
  std::filesystem::path write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// The whole content of a file. Throws std::runtime_error if it can not be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace ringshard::testing
