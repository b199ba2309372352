#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "backend/home_store.hpp"
#include "core/home.hpp"
#include "router/circuit.hpp"
#include "router/counters.hpp"
#include "router/log_limit.hpp"
#include "router/topology_feed.hpp"
#include "router/trim_memory.hpp"
#include "router/view.hpp"
#include "support/clock.hpp"

namespace ringshard::router {

/// The second half of a double write. Thread-safe. Nothing of it ever fails the caller's write:
/// what does not arrive stays in the owner's change log, is counted, and is applied later by the
/// migrator.
class Mirror {
 public:
  /// The part of one write to a home that is being moved that belongs to the mirror, from before
  /// the caller's function to after the commit. Used by one thread.
  ///
  ///     Mirror::Write half(mirror, view, record, store);          // the transaction is open
  ///     …                                                         // the caller's function
  ///     half.collect();                                           // before the commit
  ///     …                                                         // commit; the connection goes
  ///     back half.send(owner_node);
  class Write {
   public:
    Write(Mirror& mirror, std::shared_ptr<const View> view, const HomeRecord& owner,
          HomeStore& store);
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;
    /// Without send(): the write was not committed, and nothing has happened.
    ~Write();

    void collect();
    void send(Node& owner_node) noexcept;

   private:
    enum class State : std::uint8_t {
      idle,       ///< the change log could not be read
      skipping,   ///< the peer is left alone
      noted,      ///< the head of the change log is known
      collected,  ///< the changes are known
    };

    void begin();
    void read_changes();
    void deliver();
    void not_mirrored(const Error& error);
    void after_send(Node& owner_node, bool arrived) noexcept;

    Mirror& mirror_;
    const std::shared_ptr<const View> view_;
    const HomeRecord owner_;
    HomeStore& store_;  // used only while the transaction is open
    State state_ = State::idle;
    Node* peer_ = nullptr;
    std::int64_t head_ = 0;
    std::vector<RowChange> changes_;
    std::vector<std::int64_t> seqs_;    // of all entries that this write made
    std::vector<std::int64_t> erased_;  // entries of earlier writes that this one deletes
  };

  Mirror(const Config& config, Clock& clock, TopologyFeed& feed, Counters& counters)
      : timeout_(config.router.mirror_timeout),
        log_rows_max_(static_cast<std::int64_t>(config.move.change_log_rows_max)),
        check_every_(std::min<std::int64_t>(256, std::max<std::int64_t>(1, log_rows_max_ / 4))),
        clock_(clock),
        feed_(feed),
        counters_(counters) {}

 private:
  // Changes of one write that are mirrored at once; a larger write is left to the migrator.
  static constexpr std::int64_t changes_max = 2'000;
  static constexpr std::size_t home_slots = 256;

  // Several homes may share a slot: they then share a pause, which is harmless.
  struct HomeSlot {
    Circuit circuit;
    std::atomic<std::int64_t> unchecked{0};  // writes since the length of the log was looked at
  };
  HomeSlot& slot_of(ShardId shard) noexcept { return slots_[shard.value % home_slots]; }

  bool allows(Node& peer, ShardId shard) noexcept;
  void failed(Node* peer, const HomeRecord& owner, const Error& error) noexcept;
  void bound_log(Node& owner_node, const View& view, const HomeRecord& owner) noexcept;
  bool log_is_too_long(Node& owner_node, const HomeName& home, const HomeRecord& owner,
                       TxMode mode);

  // constant after construction
  const Duration timeout_;
  const std::int64_t log_rows_max_;
  const std::int64_t check_every_;
  Clock& clock_;
  TopologyFeed& feed_;
  Counters& counters_;

  // thread-safe themselves
  std::array<HomeSlot, home_slots> slots_;
  TrimMemory trim_;
  LogLimit failure_log_;
  LogLimit skip_log_;
};

}  // namespace ringshard::router
