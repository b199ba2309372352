#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/home.hpp"
#include "core/schema.hpp"

namespace ringshard::sqlite {

/// The files of the homes of one node: a directory with `<home>.db`, and "-wal" and "-shm" beside
/// it. Thread-safe.
///
/// A name that begins with a dot is work that is not finished: ".new/<home>.<process>.<number>" is
/// a home being built,
/// ".<home>.dropped" one being removed. Files come and go under an flock() on the directory, so
/// that nobody removes the "-wal" of a home that another process has just made.
class HomeFiles {
 public:
  explicit HomeFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::filesystem::path file_of(const HomeName& home) const;

  /// Throws if the directory is not there and can not be made, or can not be written; changes
  /// nothing.
  void require_preparable() const;

  /// Makes the directory, and removes what dead processes left behind.
  void prepare();

  /// Error{unavailable} if the directory is not there.
  void require_directory() const;

  bool exists(const HomeName& home) const;
  void create(const HomeName& home, const std::optional<HomeRecord>& record,
              const HomeSchema& schema);
  void drop(const HomeName& home);
  std::vector<HomeName> list(std::string_view keyspace) const;
  std::int64_t bytes(const HomeName& home) const;

 private:
  std::filesystem::path building_directory() const { return directory_ / ".new"; }
  void remove_abandoned() const;

  const std::filesystem::path directory_;
};

}  // namespace ringshard::sqlite
