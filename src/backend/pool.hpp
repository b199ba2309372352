#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/home_store.hpp"

namespace ringshard {

struct PoolOptions {
  std::size_t size_max = 16;                    ///< sessions in use at the same time
  std::size_t open_max = 0;                     ///< in use and idle; at least size_max
  Duration wait_max = std::chrono::seconds(1);  ///< for one to become free
};

/// Open sessions of one node for one use, bounded. Thread-safe; no lock is held while a session is
/// opened or closed.
///
///     PooledSession session = pool.acquire(home, deadline);
///     session->begin_home(…);      // it goes back to the pool at the end of the scope
class SessionPool {
 public:
  /// A session and the statements built for it.
  struct Entry {
    std::string key;
    std::unique_ptr<Session> session;
    std::unique_ptr<HomeStore> store;
  };

  class Lease {
   public:
    Lease(SessionPool& pool, std::unique_ptr<Entry> entry)
        : pool_(&pool), entry_(std::move(entry)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Session& session() noexcept { return *entry_->session; }
    HomeStore& store() noexcept { return *entry_->store; }
    Session* operator->() noexcept { return entry_->session.get(); }

    /// Closes it instead of giving it back: what it saw may not be what is there now.
    void discard() noexcept { discarded_ = true; }

   private:
    SessionPool* pool_;
    std::unique_ptr<Entry> entry_;
    bool discarded_ = false;
  };

  SessionPool(Backend& backend, Clock& clock, SessionUse use, PoolOptions options)
      : backend_(backend), clock_(clock), use_(use), options_(options) {}

  /// Error{pool_exhausted} if none became free by the earlier of the deadline and wait_max; or what
  /// connecting throws.
  Lease acquire(const HomeName& home, Deadline deadline);

  /// Closes the idle sessions.
  void close_idle() noexcept;

  /// Closes the idle sessions that may be reused for this home.
  void close_idle(const HomeName& home) noexcept;

  std::size_t open_count() const;

 private:
  friend class Lease;
  void give_back(std::unique_ptr<Entry> entry, bool discard) noexcept;
  void wait_for_turn(std::unique_lock<std::mutex>& lock, const HomeName& home, Deadline deadline);
  std::unique_ptr<Entry> connect(const HomeName& home, const std::string& key);
  void forget_one() noexcept;

  // constant after construction
  Backend& backend_;
  Clock& clock_;
  const SessionUse use_;
  const PoolOptions options_;

  // guarded by mutex_
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::vector<std::unique_ptr<Entry>> idle_;  // most recently used last
  std::size_t open_ = 0;                      // leased, idle and being opened
  std::deque<std::uint64_t> waiting_;         // who came first goes first
  std::uint64_t next_ticket_ = 0;
};

}  // namespace ringshard
