#pragma once

#include <memory>
#include <optional>
#include <ringshard/ids.hpp>
#include <string>
#include <vector>

#include "backend/pool.hpp"
#include "core/home.hpp"
#include "router/counters.hpp"
#include "router/view.hpp"
#include "support/clock.hpp"

namespace ringshard::router {

/// A transaction that is open in a home, on a connection of the pool. Rolled back unless it was
/// committed.
class HomeTransaction {
 public:
  HomeTransaction(std::shared_ptr<const View> view, NodeIndex node, SessionPool::Lease lease,
                  const HomeRecord* record)
      : view_(std::move(view)), node_(node), lease_(std::move(lease)), record_(record) {}
  HomeTransaction(HomeTransaction&& other) noexcept
      : view_(std::move(other.view_)),
        node_(other.node_),
        lease_(std::move(other.lease_)),
        record_(other.record_) {
    other.lease_.reset();
  }
  HomeTransaction& operator=(HomeTransaction&&) = delete;
  ~HomeTransaction() { end(); }

  const View& view() const noexcept { return *view_; }
  Node& node() const noexcept { return view_->node(node_); }
  /// What the home says of itself in this transaction, for as long as that is open; null: nothing.
  const HomeRecord* record() const noexcept { return record_; }
  Session& session() noexcept { return lease_->session(); }
  HomeStore& store() noexcept { return lease_->store(); }

  /// Closes the connection at the end: what it saw may not be what is there by then.
  void discard() noexcept { lease_->discard(); }

  /// Rolls back what was not committed and gives the connection back.
  void end() noexcept {
    if (!lease_) return;
    record_ = nullptr;
    if (lease_->session().in_transaction()) lease_->session().rollback();
    lease_.reset();
  }

 private:
  std::shared_ptr<const View> view_;  // keeps the node alive for the lease
  NodeIndex node_;
  std::optional<SessionPool::Lease> lease_;
  const HomeRecord* record_;  // the session's
};

/// A connection whose transaction is open, and what the home says of itself in it (null: nothing),
/// which is the session's.
struct Begun {
  SessionPool::Lease lease;
  const HomeRecord* record;
};

/// Begins a transaction in a home. A connection to a home that was since removed or made anew is
/// replaced; every connection whose state is not certain after an error is closed. Error{not_found}
/// if there is no such home.
Begun begin_in_home(SessionPool& pool, const HomeName& home, TxMode mode, Deadline deadline,
                    Deadline lock_deadline);

/// Finds the home that owns a shard, by asking the homes. Thread-safe.
class OwnerSearch {
 public:
  OwnerSearch(Clock& clock, Counters& counters) : clock_(clock), counters_(counters) {}

  /// Begins a transaction of `mode` at the owner. Starts where the view says, follows what the
  /// homes say, and finishes a handover whose decision it sees. Error{not_owner} that says what was
  /// found where if that leads nowhere: then the placement, or the homes, are about to change. Or
  /// what a node throws.
  HomeTransaction begin(const std::shared_ptr<const View>& view, ShardId shard, TxMode mode,
                        Deadline deadline);

  /// Begins a transaction where the view says, whatever that home says of itself.
  HomeTransaction begin_at(const std::shared_ptr<const View>& view, NodeIndex node, ShardId shard,
                           TxMode mode, Deadline deadline);

 private:
  // What was found at one node: nothing, or the record of a home that does not own the shard.
  struct Visit {
    NodeIndex node;
    std::optional<HomeRecord> record;
  };
  using Trail = std::vector<Visit>;

  std::optional<HomeTransaction> visit(const std::shared_ptr<const View>& view, NodeIndex node,
                                       ShardId shard, TxMode mode, Deadline deadline, Trail& trail);
  std::optional<NodeIndex> next(const View& view, ShardId shard, Deadline deadline,
                                const Trail& trail);
  void finish_handover(const View& view, const Visit& old_owner, const Visit& new_owner,
                       Deadline deadline);

  Clock& clock_;
  Counters& counters_;
};

}  // namespace ringshard::router
