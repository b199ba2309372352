#include "backend/pool.hpp"

#include <algorithm>
#include <iterator>
#include <ringshard/error.hpp>
#include <utility>

namespace ringshard {

namespace {

// The clock of a test may not be the one that a condition variable knows, so it is asked this
// often.
constexpr std::chrono::milliseconds wait_slice(50);

}  // namespace

SessionPool::Lease::~Lease() {
  if (entry_) pool_->give_back(std::move(entry_), discarded_);
}

SessionPool::Lease SessionPool::acquire(const HomeName& home, Deadline deadline) {
  const std::string key = backend_.session_key(home);
  std::unique_ptr<Entry> evicted;  // closed after the lock is released
  {
    std::unique_lock lock(mutex_);
    wait_for_turn(lock, home, deadline);
    const auto same = std::find_if(idle_.rbegin(), idle_.rend(),
                                   [&key](const auto& entry) { return entry->key == key; });
    if (same != idle_.rend()) {
      std::unique_ptr<Entry> found = std::move(*same);
      idle_.erase(std::next(same).base());
      return Lease(*this, std::move(found));
    }
    if (open_ < std::max(options_.size_max, options_.open_max)) {
      ++open_;
    } else {
      evicted = std::move(idle_.front());
      idle_.erase(idle_.begin());
    }
  }
  evicted.reset();
  return Lease(*this, connect(home, key));
}

void SessionPool::wait_for_turn(std::unique_lock<std::mutex>& lock, const HomeName& home,
                                Deadline deadline) {
  const auto can_go = [this] { return open_ - idle_.size() < options_.size_max; };
  // Who came later must not take what is freed for those who wait.
  if (waiting_.empty() && can_go()) return;
  const Deadline end = earlier(deadline, Deadline::after(clock_, options_.wait_max));
  const std::uint64_t ticket = next_ticket_++;
  waiting_.push_back(ticket);
  while (waiting_.front() != ticket || !can_go()) {
    if (end.passed(clock_)) {
      std::erase(waiting_, ticket);
      freed_.notify_all();
      throw Error(ErrorCode::pool_exhausted,
                  "no session for home " + home.str() + " became free in time: all " +
                      std::to_string(options_.size_max) +
                      " of its node are in use; allow more, or hold them for less long");
    }
    const auto left = std::min<std::chrono::microseconds>(end.left(clock_), wait_slice);
    freed_.wait_for(lock, left);
  }
  waiting_.pop_front();
  // There may be enough for the next one too.
  freed_.notify_all();
}

std::unique_ptr<SessionPool::Entry> SessionPool::connect(const HomeName& home,
                                                         const std::string& key) {
  try {
    auto entry = std::make_unique<Entry>();
    entry->key = key;
    entry->session = backend_.connect(home, use_);
    entry->store = std::make_unique<HomeStore>(*entry->session, backend_.dialect());
    return entry;
  } catch (...) {
    forget_one();
    throw;
  }
}

void SessionPool::forget_one() noexcept {
  {
    const std::lock_guard lock(mutex_);
    --open_;
  }
  freed_.notify_all();
}

void SessionPool::give_back(std::unique_ptr<Entry> entry, bool discard) noexcept {
  Session& session = *entry->session;
  bool keep = !discard;
  try {
    if (session.in_transaction()) session.rollback();
    keep = keep && session.usable();
    if (keep) {
      session.set_statement_deadline(Deadline());
      session.set_durable(true);
    }
    if (keep) {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(entry));
    }
  } catch (...) {
    keep = false;  // a session that can not be put in order is closed
  }
  if (keep) {
    freed_.notify_all();
    return;
  }
  entry.reset();
  forget_one();
}

void SessionPool::close_idle() noexcept {
  std::vector<std::unique_ptr<Entry>> closed;
  {
    const std::lock_guard lock(mutex_);
    closed.swap(idle_);
    open_ -= closed.size();
  }
  freed_.notify_all();
}

void SessionPool::close_idle(const HomeName& home) noexcept {
  std::vector<std::unique_ptr<Entry>> closed;
  {
    const std::string key = backend_.session_key(home);
    const std::lock_guard lock(mutex_);
    const auto kept = std::stable_partition(
        idle_.begin(), idle_.end(), [&key](const auto& entry) { return entry->key != key; });
    closed.assign(std::make_move_iterator(kept), std::make_move_iterator(idle_.end()));
    idle_.erase(kept, idle_.end());
    open_ -= closed.size();
  }
  if (!closed.empty()) freed_.notify_all();
}

std::size_t SessionPool::open_count() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace ringshard
