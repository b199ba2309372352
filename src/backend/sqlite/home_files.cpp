#include "backend/sqlite/home_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>  // renameat2
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <ringshard/error.hpp>
#include <system_error>

#include "backend/sqlite/errors.hpp"
#include "backend/sqlite/home_builder.hpp"

namespace ringshard::sqlite {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view dropped_suffix = ".dropped";

/// The directory, opened; locked against other makers and removers of homes for as long as this
/// lives.
class LockedDirectory {
 public:
  explicit LockedDirectory(const fs::path& directory)
      : directory_(directory),
        descriptor_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw system_error(errno, "open the directory " + directory.string());
    while (flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      const int error_number = errno;
      close(descriptor_);
      throw system_error(error_number, "lock the directory " + directory.string());
    }
  }
  LockedDirectory(const LockedDirectory&) = delete;
  LockedDirectory& operator=(const LockedDirectory&) = delete;
  ~LockedDirectory() { close(descriptor_); }

  /// Lets others in, then makes the names in it last over a power cut: so that makers of many homes
  /// wait together.
  void unlock_and_sync() const {
    flock(descriptor_, LOCK_UN);
    if (fsync(descriptor_) != 0)
      throw system_error(errno, "write the directory " + directory_.string());
  }

 private:
  const fs::path directory_;
  const int descriptor_;
};

void remove_file(const fs::path& file) {
  if (unlink(file.c_str()) != 0 && errno != ENOENT)
    throw system_error(errno, "remove " + file.string());
}

// What SQLite keeps beside a database; without the database, or with another one, it does harm.
void remove_companions(const fs::path& file) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) remove_file(file.string() + suffix);
}

bool is_file(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return S_ISREG(status.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw system_error(errno, "look at " + path.string());
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// "<home>.<process>.<number>", perhaps with "-wal" after it, of a process that is gone.
bool is_abandoned(std::string_view name) {
  const std::size_t second = name.rfind('.');
  if (second == std::string_view::npos || second == 0) return false;
  const std::size_t first = name.rfind('.', second - 1);
  if (first == std::string_view::npos) return false;
  const auto process = number_in<pid_t>(name.substr(first + 1, second - first - 1));
  return process && *process > 0 && kill(*process, 0) != 0 && errno == ESRCH;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) throw system_error(error.value(), "read the directory " + directory.string());
  return names;
}

// Takes what is built to its name, where nothing may be.
void publish(const fs::path& built, const fs::path& file) {
  if (renameat2(AT_FDCWD, built.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE) == 0) return;
  // Not every file system can do that; the lock of the directory keeps others of us away.
  if (errno == EINVAL || errno == ENOSYS) {
    if (rename(built.c_str(), file.c_str()) == 0) return;
  }
  throw system_error(errno, "make " + file.string());
}

fs::path dropped_name(const fs::path& directory, const HomeName& home) {
  return directory / ("." + home.str() + std::string(dropped_suffix));
}

}  // namespace

fs::path HomeFiles::file_of(const HomeName& home) const {
  if (home.keyspace.empty() || home.keyspace.front() == '.' ||
      home.keyspace.find_first_of(std::string_view("/\0", 2)) != std::string::npos)
    throw Error(ErrorCode::invalid_argument,
                "the keyspace name \"" + home.keyspace + "\" can not be the name of a file");
  return directory_ / (home.str() + ".db");
}

void HomeFiles::require_directory() const {
  std::error_code error;
  if (fs::is_directory(directory_, error)) return;
  throw Error(ErrorCode::unavailable,
              "the node's directory " + directory_.string() +
                  " is not there: is it mounted, and was the node made with `ringshard init`?");
}

void HomeFiles::require_preparable() const {
  std::error_code error;
  fs::path nearest = fs::absolute(directory_, error);
  while (!fs::exists(fs::symlink_status(nearest, error)) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (!fs::is_directory(nearest, error))
    throw system_error(ENOTDIR, "make the directory " + directory_.string());
  if (access(nearest.c_str(), W_OK | X_OK) != 0)
    throw system_error(errno, "write to the directory " + nearest.string());
}

void HomeFiles::prepare() {
  std::error_code error;
  fs::create_directories(building_directory(), error);
  if (error) throw system_error(error.value(), "make the directory " + directory_.string());
  const LockedDirectory locked(directory_);
  remove_abandoned();
  for (const std::string& name : names_in(directory_)) {
    if (name.front() == '.' && ends_with(name, dropped_suffix)) remove_file(directory_ / name);
  }
}

void HomeFiles::remove_abandoned() const {
  for (const std::string& name : names_in(building_directory())) {
    if (is_abandoned(name)) remove_file(building_directory() / name);
  }
}

bool HomeFiles::exists(const HomeName& home) const {
  if (is_file(file_of(home))) return true;
  // A home is gone only if the place where it would be can be seen.
  require_directory();
  return false;
}

void HomeFiles::create(const HomeName& home, const std::optional<HomeRecord>& record,
                       const HomeSchema& schema) {
  static std::atomic<unsigned> counter{0};
  const fs::path file = file_of(home);
  const auto require_none = [&] {
    if (exists(home))
      throw Error(ErrorCode::already_exists,
                  "home " + home.str() + " exists already: " + file.string());
  };
  require_none();
  if (mkdir(building_directory().c_str(), 0777) != 0 && errno != EEXIST)
    throw system_error(errno, "make the directory " + building_directory().string());
  const fs::path built = building_directory() / (home.str() + "." + std::to_string(getpid()) + "." +
                                                 std::to_string(counter++));
  try {
    build_home(built, home, record, schema);
    const LockedDirectory locked(directory_);
    require_none();
    remove_abandoned();
    remove_companions(file);
    publish(built, file);
    locked.unlock_and_sync();
  } catch (...) {
    unlink(built.c_str());
    for (const char* suffix : {"-wal", "-shm", "-journal"})
      unlink((built.string() + suffix).c_str());
    throw;
  }
}

void HomeFiles::drop(const HomeName& home) {
  const fs::path file = file_of(home);
  const fs::path dropped = dropped_name(directory_, home);
  require_directory();
  const LockedDirectory locked(directory_);
  // Each step may be the last one of a process, and each may be done again: the database first
  // loses its name, so that nobody opens it without its "-wal".
  if (rename(file.c_str(), dropped.c_str()) != 0 && errno != ENOENT)
    throw system_error(errno, "remove " + file.string());
  remove_companions(file);
  remove_file(dropped);
  locked.unlock_and_sync();
}

std::vector<HomeName> HomeFiles::list(std::string_view keyspace) const {
  require_directory();
  const std::string prefix = std::string(keyspace) + "_";
  constexpr std::string_view suffix = ".db";
  std::vector<HomeName> homes;
  for (const std::string& name : names_in(directory_)) {
    if (name.compare(0, prefix.size(), prefix) != 0 || !ends_with(name, suffix) ||
        name.size() <= prefix.size() + suffix.size())
      continue;
    const std::string_view middle =
        std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    HomeName home{std::string(keyspace), std::nullopt};
    if (const auto number = number_in<std::uint32_t>(middle)) home.shard = ShardId{*number};
    // Another spelling of the number, or a longer keyspace name, is somebody else's file.
    if (home.str() + std::string(suffix) == name) homes.push_back(std::move(home));
  }
  std::sort(homes.begin(), homes.end(),
            [](const HomeName& left, const HomeName& right) { return left.shard < right.shard; });
  return homes;
}

std::int64_t HomeFiles::bytes(const HomeName& home) const {
  const fs::path file = file_of(home);
  std::int64_t total = 0;
  for (const char* suffix : {"", "-wal"}) {
    struct stat status {};
    if (stat((file.string() + suffix).c_str(), &status) == 0) total += status.st_size;
  }
  if (total == 0 && !exists(home))
    throw Error(ErrorCode::not_found, "home " + home.str() + " does not exist: " + file.string());
  return total;
}

}  // namespace ringshard::sqlite
