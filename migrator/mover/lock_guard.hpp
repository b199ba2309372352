#pragma once

#include <atomic>
#include <cstdint>

#include "support/clock.hpp"

namespace ringshard {

/// Keeps the promise that writers are never held longer than the pause budget even while this
/// process does not run at all (stopped, swapped out, a debugger): a small process of its own that
/// ends this one with SIGKILL when a lock is held past its deadline. The database then releases the
/// lock and rolls back; the move goes on by `ringshard resume`.
///
///     LockGuard guard;                          // in main, before the first thread
///     { LockGuard::Watch watch(deadline); … }   // around the time in which a lock is held
///
/// A database server that ends such transactions by itself needs none of this; a lock on a file
/// does. One per process; a Watch does nothing where there is none. Watches may be made by any
/// thread, up to watches_max at once; one more than that is not guarded.
class LockGuard {
 public:
  static constexpr int watches_max = 64;

  /// How long a lock that holds up writers is held at most outside of a cutover, where only a
  /// process that does not run, or a storage that hangs, needs more than milliseconds.
  static constexpr Duration held_max{5'000};

  LockGuard();
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;
  /// Ends the guarding process.
  ~LockGuard();

  class Watch {
   public:
    explicit Watch(Deadline deadline);
    /// For a lock that is held from now on, for held_max at most.
    explicit Watch(Clock& clock) : Watch(Deadline::after(clock, held_max)) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { end(); }

    void end() noexcept;

   private:
    std::atomic<std::int64_t>* slot_ = nullptr;
  };
};

}  // namespace ringshard
