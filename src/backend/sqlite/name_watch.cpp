#include "backend/sqlite/name_watch.hpp"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <exception>

namespace ringshard::sqlite {

NameWatch::NameWatch() noexcept
    : descriptor_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), process_(getpid()) {}

NameWatch::~NameWatch() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool NameWatch::add(const std::filesystem::path& file) noexcept {
  // A child would take events that its parent waits for.
  if (descriptor_ < 0 || process_ != getpid()) return false;
  try {
    // IN_ATTRIB: also the number of names has changed.
    if (inotify_add_watch(descriptor_, file.c_str(), IN_MOVE_SELF | IN_ATTRIB | IN_DELETE_SELF) < 0)
      return false;
    for (auto path = file; path.has_relative_path();) {
      path = path.parent_path();
      if (inotify_add_watch(descriptor_, path.c_str(), IN_MOVE_SELF | IN_ONLYDIR) < 0) return false;
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

std::uint64_t NameWatch::changes() noexcept {
  int bytes = 0;
  if (ioctl(descriptor_, FIONREAD, &bytes) != 0 || bytes > 0) {
    // Counted before they are taken: a thread that finds none left finds the new number.
    changes_.fetch_add(1);
    std::array<char, 4096> events;
    while (read(descriptor_, events.data(), events.size()) > 0) {
    }
  }
  return changes_.load();
}

}  // namespace ringshard::sqlite
