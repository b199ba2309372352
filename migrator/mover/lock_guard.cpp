#include "mover/lock_guard.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <new>

#include "support/log.hpp"

namespace ringshard {
namespace {

/// In memory that both processes see: when each watch ends, in nanoseconds of the monotonic clock.
/// 0: not in use.
using Slots = std::array<std::atomic<std::int64_t>, LockGuard::watches_max>;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

Slots* slots = nullptr;  // set once, before the first thread
int wake_guard = -1;     // the guarding process waits at the other end
pid_t guard_process = -1;

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::int64_t nearest_deadline() {
  std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
  for (const auto& slot : *slots)
    if (const std::int64_t at = slot.load(); at != 0) nearest = std::min(nearest, at);
  return nearest;
}

/// The guarding process: only calls that are safe after fork().
[[noreturn]] void guard(pid_t guarded, int wake) {
  for (;;) {
    const std::int64_t nearest = nearest_deadline();
    int wait_ms = -1;
    if (nearest != std::numeric_limits<std::int64_t>::max()) {
      const std::int64_t left = nearest - monotonic_ns();
      if (left <= 0) {
        ::kill(guarded, SIGKILL);
        constexpr char text[] =
            "ringshard: the migrator held a lock past its deadline and was ended, so that writers "
            "go on; "
            "nothing was lost, `ringshard resume` continues\n";
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text - 1);
        ::_exit(1);
      }
      wait_ms = static_cast<int>(std::min<std::int64_t>(left / 1'000'000 + 1, 60'000));
    }
    pollfd event{wake, POLLIN, 0};
    if (::poll(&event, 1, wait_ms) <= 0) continue;
    std::array<char, 64> ignored{};
    if (::read(wake, ignored.data(), ignored.size()) == 0)
      ::_exit(0);  // the guarded process is gone
  }
}

}  // namespace

LockGuard::LockGuard() {
  void* memory =
      ::mmap(nullptr, sizeof(Slots), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> ends{};
  if (memory == MAP_FAILED || ::pipe(ends.data()) != 0) {
    log::warning(
        "no process could be made that guards locks: a stopped migrator could hold writers");
    return;
  }
  slots = new (memory) Slots{};
  const pid_t parent = ::getpid();
  guard_process = ::fork();
  if (guard_process < 0) {
    log::warning(
        "no process could be made that guards locks: a stopped migrator could hold writers");
    ::close(ends[0]);
    ::close(ends[1]);
    return;
  }
  if (guard_process == 0) {
    ::close(ends[1]);
    ::setsid();  // what stops the migrator from the terminal must not stop its guard
    guard(parent, ends[0]);
  }
  ::close(ends[0]);
  wake_guard = ends[1];
}

LockGuard::~LockGuard() {
  if (wake_guard >= 0) ::close(wake_guard);
  if (guard_process > 0) ::waitpid(guard_process, nullptr, 0);
  wake_guard = -1;
  guard_process = -1;
}

LockGuard::Watch::Watch(Deadline deadline) {
  if (slots == nullptr || wake_guard < 0 || !deadline.limited()) return;
  // steady_clock is the monotonic clock here, so both processes mean the same moment.
  const std::int64_t at =
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.at().time_since_epoch())
          .count();
  for (auto& slot : *slots) {
    std::int64_t unused = 0;
    if (!slot.compare_exchange_strong(unused, at)) continue;
    slot_ = &slot;
    constexpr char byte = 'w';
    [[maybe_unused]] const auto written = ::write(wake_guard, &byte, 1);
    return;
  }
}

void LockGuard::Watch::end() noexcept {
  if (slot_ != nullptr) slot_->store(0);
  slot_ = nullptr;
}

}  // namespace ringshard
