#include "router/topology_cache.hpp"

#include <fcntl.h>
#include <stdlib.h>  // mkstemp
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <ringshard/error.hpp>
#include <string>
#include <string_view>
#include <system_error>

namespace ringshard::router {

namespace fs = std::filesystem;

namespace {

Error failure(const fs::path& path, const std::string& what, int number) {
  ErrorCode code = ErrorCode::unavailable;
  if (number == ENOSPC || number == EDQUOT) code = ErrorCode::storage_full;
  if (number == EROFS || number == EACCES || number == EPERM) code = ErrorCode::read_only;
  return Error(code, "router.topology_cache " + path.string() + ": " + what + ": " +
                         std::generic_category().message(number));
}

// A file that is closed at the end of the scope, and removed unless it was kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : name_(target.string() + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());
    if (descriptor_ < 0) throw failure(target, "can not make a file beside it", errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  void write(const fs::path& target, std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw failure(target, "can not write", errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) throw failure(target, "can not write to the storage", errno);
  }

  void rename_to(const fs::path& target) {
    if (std::rename(name_.c_str(), target.c_str()) != 0) {
      throw failure(target, "can not replace it", errno);
    }
    name_.clear();
  }

 private:
  std::string name_;
  int descriptor_ = -1;
};

// So that the new name survives a power cut. Not every file system can; the file is whole anyway.
void flush_folder(const fs::path& folder) noexcept {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

std::optional<Topology> read_topology_cache(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw failure(path, "can not read", errno);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  try {
    return parse_topology(text);
  } catch (const Error& error) {
    throw Error(error.code(), "router.topology_cache " + path.string() + ": " + error.what());
  }
}

void write_topology_cache(const fs::path& path, const Topology& topology) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw failure(path, "can not make its folder", error.value());
  TemporaryFile file(path);
  file.write(path, serialize(topology));
  file.rename_to(path);
  flush_folder(folder);
}

}  // namespace ringshard::router
