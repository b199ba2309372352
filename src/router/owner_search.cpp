#include "router/owner_search.hpp"

#include <algorithm>
#include <ringshard/error.hpp>
#include <utility>

#include "core/home_text.hpp"
#include "support/log.hpp"

namespace ringshard::router {

namespace {

// A lock that is held for longer is waited for without a connection, so that one shard's queue does
// not take all connections of its node.
constexpr Duration lock_wait_max{1'000};

// More than the owner, its predecessor and one handover in between need.
constexpr int hops_max = 6;

HomeName home_name(const View& view, ShardId shard) { return {view.topology().keyspace(), shard}; }

std::string where(const View& view, NodeIndex node, ShardId shard) {
  return "shard " + std::to_string(shard.value) + " of keyspace '" + view.topology().keyspace() +
         "' on node '" + view.node(node).name() + "'";
}

Error with_place(const Error& error, const View& view, NodeIndex node, ShardId shard) {
  Error placed(error.code(), where(view, node, shard) + ": " + error.what());
  placed.with_shard(shard).with_sqlstate(error.sqlstate());
  return placed;
}

std::string describe(const View& view, NodeIndex node, const std::optional<HomeRecord>& record) {
  return "node '" + view.node(node).name() + "' has " +
         (record ? "a home that says " + describe(*record) : "no such home");
}

}  // namespace

Begun begin_in_home(SessionPool& pool, const HomeName& home, TxMode mode, Deadline deadline,
                    Deadline lock_deadline) {
  for (bool replaced = false;; replaced = true) {
    SessionPool::Lease lease = pool.acquire(home, deadline);
    try {
      lease->set_statement_deadline(deadline);
      const HomeRecord* record = lease->begin_home(home, mode, lock_deadline);
      return {std::move(lease), record};
    } catch (const Error& error) {
      // A lock that was not had says nothing about the connection; all else does.
      if (error.code() != ErrorCode::conflict) lease.discard();
      if (error.code() != ErrorCode::not_found || replaced) throw;
    }
    pool.close_idle(home);
  }
}

HomeTransaction OwnerSearch::begin_at(const std::shared_ptr<const View>& view, NodeIndex node,
                                      ShardId shard, TxMode mode, Deadline deadline) {
  try {
    Begun begun =
        begin_in_home(view->node(node).application(), home_name(*view, shard), mode, deadline,
                      earlier(deadline, Deadline::after(clock_, lock_wait_max)));
    return HomeTransaction(view, node, std::move(begun.lease), begun.record);
  } catch (const Error& error) {
    throw with_place(error, *view, node, shard);
  }
}

HomeTransaction OwnerSearch::begin(const std::shared_ptr<const View>& view, ShardId shard,
                                   TxMode mode, Deadline deadline) {
  const NodeIndex expected = view->place_of(shard);
  Trail trail;
  std::optional<NodeIndex> node = expected;
  for (int hop = 0; hop < hops_max && node; ++hop) {
    if (auto found = visit(view, *node, shard, mode, deadline, trail)) {
      if (*node != expected) {
        view->learn(shard, *node);
        Counters::count(counters_.redirects);
      }
      return std::move(*found);
    }
    node = next(*view, shard, deadline, trail);
  }
  std::string found;
  for (const Visit& visit : trail) {
    // They may be connections to a home that has been removed or made anew.
    view->node(visit.node).application().close_idle(home_name(*view, shard));
    found += (found.empty() ? "" : ", ") + describe(*view, visit.node, visit.record);
  }
  throw Error(ErrorCode::not_owner, "shard " + std::to_string(shard.value) + " of keyspace '" +
                                        view->topology().keyspace() +
                                        "': no owner found: " + found + " (topology version " +
                                        std::to_string(view->topology().version()) + ")")
      .with_shard(shard);
}

std::optional<HomeTransaction> OwnerSearch::visit(const std::shared_ptr<const View>& view,
                                                  NodeIndex node, ShardId shard, TxMode mode,
                                                  Deadline deadline, Trail& trail) {
  // What was seen there before is out of date now.
  std::erase_if(trail, [&](const Visit& visit) { return visit.node == node; });
  try {
    HomeTransaction tx = begin_at(view, node, shard, mode, deadline);
    if (tx.record() && access_of(*tx.record()) != Access::redirect) return tx;
    // The home may be dropped and made again: nothing of this connection is worth keeping.
    tx.discard();
    trail.push_back({node, tx.record() ? std::optional(*tx.record()) : std::nullopt});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    trail.push_back({node, std::nullopt});
  }
  return std::nullopt;
}

// Where to look after what was found so far; nothing if that leads nowhere.
std::optional<NodeIndex> OwnerSearch::next(const View& view, ShardId shard, Deadline deadline,
                                           const Trail& trail) {
  const Visit& last = trail.back();
  if (!last.record) return std::nullopt;
  for (const Visit& other : trail) {
    for (const auto& [old_owner, new_owner] :
         {std::pair(&other, &last), std::pair(&last, &other)}) {
      if (!old_owner->record || !new_owner->record) continue;
      if (!handover_is_decided(*old_owner->record, *new_owner->record)) continue;
      if (old_owner->record->peer != view.node(new_owner->node).name()) continue;
      try {
        finish_handover(view, *old_owner, *new_owner, deadline);
      } catch (const Error& error) {
        // A home that is gone meanwhile is met as such by the next visit.
        if (error.code() != ErrorCode::not_found) {
          throw with_place(error, view, new_owner->node, shard);
        }
      }
      return new_owner->node;
    }
  }
  const auto peer = view.find(last.record->peer);
  if (!peer || *peer == last.node) return std::nullopt;
  // Two homes that point at each other: they were read at different moments, or wait for a mover.
  const bool seen = std::any_of(trail.begin(), trail.end(),
                                [&](const Visit& visit) { return visit.node == *peer; });
  if (seen) return std::nullopt;
  return peer;
}

void OwnerSearch::finish_handover(const View& view, const Visit& old_owner, const Visit& new_owner,
                                  Deadline deadline) {
  const HomeRecord& decided = *old_owner.record;
  const HomeName home = home_name(view, decided.shard);
  Begun begun = begin_in_home(view.node(new_owner.node).maintenance(), home, TxMode::exclusive,
                              deadline, earlier(deadline, Deadline::after(clock_, lock_wait_max)));
  // Under the lock: somebody else may have done it meanwhile. Without a commit it is rolled back.
  if (!begun.record || !handover_is_decided(decided, *begun.record)) return;
  const std::string& old_name = view.node(old_owner.node).name();
  if (!begun.lease.store().promote(decided, old_name)) return;
  begun.lease->commit();
  Counters::count(counters_.finished_handovers);
  log::info("shard " + std::to_string(decided.shard.value) + ": finished the handover from '" +
            old_name + "' to '" + view.node(new_owner.node).name() +
            "' that its mover had decided (move " + decided.move_id + ", leg " +
            std::to_string(decided.leg) + ")");
}

}  // namespace ringshard::router
