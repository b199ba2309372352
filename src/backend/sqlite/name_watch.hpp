#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace ringshard::sqlite {

/// Tells that a file may not be what its name leads to any more, for much less than it costs to
/// look the name up: that is half of a short read transaction. The kernel notes a renaming of the
/// file or of a directory above it, and each name that the file loses, before the call that does it
/// returns. Thread-safe.
///
///     if (watch.add(file)) …            // once, after the file was opened
///     const auto now = watch.changes();  // another number than the last time: look the name up
class NameWatch {
 public:
  NameWatch() noexcept;
  NameWatch(const NameWatch&) = delete;
  NameWatch& operator=(const NameWatch&) = delete;
  ~NameWatch();

  /// `file` is an absolute path without symbolic links. False if the system does not tell of it (a
  /// directory that may not be read, or too many watches already), or in a child of the process
  /// that made this: then look the name up each time.
  bool add(const std::filesystem::path& file) noexcept;

  /// Grows with whatever happened to any of the files.
  std::uint64_t changes() noexcept;

 private:
  const int descriptor_;
  const pid_t process_;
  std::atomic<std::uint64_t> changes_{1};
};

}  // namespace ringshard::sqlite
