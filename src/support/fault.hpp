#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/move_stage.hpp"

namespace ringshard {

/// The places where a test may stop, kill or derail a process. A closed list: the crash tests loop
/// over it.
enum class FaultPoint : std::uint8_t {
  // around each stored stage, in the order of MoveStage; planned has no "before"
  before_mirroring,
  after_mirroring,
  before_backfilling,
  after_backfilling,
  before_verifying,
  after_verifying,
  before_ready,
  after_ready,
  before_cut_over,
  after_cut_over,
  before_observing,
  after_observing,
  before_cleaning,
  after_cleaning,
  before_done,
  after_done,
  before_reverting,
  after_reverting,
  before_reverted,
  after_reverted,
  before_rolling_back,
  after_rolling_back,
  before_rolled_back,
  after_rolled_back,
  // inside the steps of a move
  target_created,          ///< the target home exists, the source has not been touched
  capture_installed,       ///< committed at the source: triggers and peer
  backfill_chunk_read,     ///< a chunk was read at the source, not yet written at the target
  backfill_chunk_written,  ///< a chunk and its checkpoint are committed at the target
  tail_read,               ///< changes were read at the source, not yet applied
  tail_applied,            ///< changes are committed at the target, still in the source's log
  tail_erased,             ///< and deleted from the source's log
  owner_locked,            ///< the owner's lock is held, in a cutover or not
  mirror_locked,           ///< the mirror's
  verify_chunk_compared,
  cutover_locked,   ///< the exclusive lock of the owner is held
  cutover_drained,  ///< nothing is left in the change log
  cutover_compared,
  cutover_decided,   ///< committed at the old owner: the new one does not know yet
  cutover_promoted,  ///< the new owner knows, the catalog does not
  placement_stored,
  capture_shrunk,   ///< a part of what the capture noted is deleted
  capture_removed,  ///< the owner has no capture left, the other home still exists
  home_dropped,     ///< the other home is gone, the stage is not stored
  // inside a router
  write_locked,     ///< the ownership check of a write passed, the caller's function has not run
  write_committed,  ///< committed at the owner, not yet mirrored
  write_mirrored    ///< committed at both, not yet acknowledged
};

std::span<const FaultPoint> all_fault_points() noexcept;
std::string_view to_string(FaultPoint point) noexcept;
std::optional<FaultPoint> parse_fault_point(std::string_view name) noexcept;

/// The points around the storing of a stage; empty for planned, which is stored with the plan.
std::optional<FaultPoint> before(MoveStage stage) noexcept;
std::optional<FaultPoint> after(MoveStage stage) noexcept;

namespace fault {

using Handler = std::function<void(FaultPoint)>;

/// Does nothing (one relaxed load) unless a handler is set. The handler may throw, block or end the
/// process.
void hit(FaultPoint point);

/// Sets or, with an empty one, removes the handler of this process. Thread-safe; a call of the old
/// handler that is under way goes on.
void set_handler(Handler handler);

/// Reads RINGSHARD_FAULT, "<point>[@n]=kill|stop|fail": at the n-th time (1 if not given) that the
/// point is reached, the process gets SIGKILL or SIGSTOP, or an Error{unavailable} is thrown there.
/// Throws Error{invalid_argument} if the value is not of that form. Does nothing if it is not set.
void arm_from_environment();

}  // namespace fault
}  // namespace ringshard
