#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringshard {

/// Where a move stands. A stage is stored in the catalog before it is believed; what it promises
/// holds from then on. Names and order are a stored format.
enum class MoveStage : std::uint8_t {
  planned,      ///< nothing has happened
  mirroring,    ///< every change committed at the source from here on is in its change log; routers
                ///< double-write
  backfilling,  ///< rows up to the checkpoint are at the target, or newer there
  verifying,    ///< every row that existed when mirroring began is at the target
  ready,      ///< every chunk was equal at some moment since; every row changed since then is known
  cut_over,   ///< the source says mirror, leg + 1, peer = target: no way back for this leg
  observing,  ///< both homes are kept equal: the new owner's writes are mirrored back
  cleaning,   ///< nobody needs the old home any more; it is being removed
  done,       ///< the old home is gone; the new one has no capture left
  reverting,  ///< (before cut_over) the source goes on alone; the target home is being removed
  reverted,   ///< source has no capture left, target home is gone
  rolling_back,  ///< (from observing) ownership is going back to the source, with all that was
                 ///< written since
  rolled_back    ///< the source owns its shard again, the other home is gone
};

inline constexpr std::array all_move_stages{
    MoveStage::planned,    MoveStage::mirroring, MoveStage::backfilling, MoveStage::verifying,
    MoveStage::ready,      MoveStage::cut_over,  MoveStage::observing,   MoveStage::cleaning,
    MoveStage::done,       MoveStage::reverting, MoveStage::reverted,    MoveStage::rolling_back,
    MoveStage::rolled_back};

std::string_view to_string(MoveStage stage) noexcept;
std::optional<MoveStage> parse_move_stage(std::string_view name) noexcept;

/// One sentence for people: what holds in this stage.
std::string_view invariant(MoveStage stage) noexcept;

/// No step follows.
bool is_final(MoveStage stage) noexcept;

/// `abort` is possible: ownership has not changed hands.
bool can_abort(MoveStage stage) noexcept;

/// `rollback` is possible: ownership has changed hands and both homes are still kept equal.
bool can_roll_back(MoveStage stage) noexcept;

/// The stages that may be stored after `from`.
bool can_follow(MoveStage from, MoveStage to) noexcept;

/// What an operator wants of a move that somebody may be running. Names are a stored format.
enum class MoveWish : std::uint8_t {
  none,       ///< that it goes on
  pause,      ///< that it stops between two steps
  abort,      ///< that it is given up before its cutover
  roll_back,  ///< that the shard goes back to its source
  finalize    ///< that its observation ends now
};

inline constexpr std::array all_move_wishes{MoveWish::none, MoveWish::pause, MoveWish::abort,
                                            MoveWish::roll_back, MoveWish::finalize};

std::string_view to_string(MoveWish wish) noexcept;
std::optional<MoveWish> parse_move_wish(std::string_view name) noexcept;

/// The command of the program ringshard that utters a wish: "rollback"; "resume" for none.
std::string_view command_of(MoveWish wish) noexcept;

/// The wish means something in this stage. One for what is under way already is granted.
bool can_be_wished(MoveWish wish, MoveStage stage) noexcept;

/// What an operator can do with a move in this stage, as the end of a refusal.
std::string way_out(MoveStage stage);

}  // namespace ringshard
