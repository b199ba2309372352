#include "core/move_stage.hpp"

namespace ringshard {

std::string_view to_string(MoveStage stage) noexcept {
  switch (stage) {
    case MoveStage::planned:
      return "planned";
    case MoveStage::mirroring:
      return "mirroring";
    case MoveStage::backfilling:
      return "backfilling";
    case MoveStage::verifying:
      return "verifying";
    case MoveStage::ready:
      return "ready";
    case MoveStage::cut_over:
      return "cut_over";
    case MoveStage::observing:
      return "observing";
    case MoveStage::cleaning:
      return "cleaning";
    case MoveStage::done:
      return "done";
    case MoveStage::reverting:
      return "reverting";
    case MoveStage::reverted:
      return "reverted";
    case MoveStage::rolling_back:
      return "rolling_back";
    case MoveStage::rolled_back:
      return "rolled_back";
  }
  return "unknown";
}

std::optional<MoveStage> parse_move_stage(std::string_view name) noexcept {
  for (const MoveStage stage : all_move_stages)
    if (to_string(stage) == name) return stage;
  return std::nullopt;
}

std::string_view invariant(MoveStage stage) noexcept {
  switch (stage) {
    case MoveStage::planned:
      return "nothing has happened yet";
    case MoveStage::mirroring:
      return "every change at the source is captured and written to both";
    case MoveStage::backfilling:
      return "rows up to the checkpoint are at the target, or newer there";
    case MoveStage::verifying:
      return "every row that existed when mirroring began is at the target";
    case MoveStage::ready:
      return "both sides were found equal; later changes are followed";
    case MoveStage::cut_over:
      return "the target owns the shard; the catalog is being told";
    case MoveStage::observing:
      return "the target owns the shard and mirrors every write back";
    case MoveStage::cleaning:
      return "the old home is being removed";
    case MoveStage::done:
      return "the shard lives at the target alone";
    case MoveStage::reverting:
      return "the source goes on alone; the target home is being removed";
    case MoveStage::reverted:
      return "the shard lives at the source alone, as before";
    case MoveStage::rolling_back:
      return "ownership is going back to the source, with every write";
    case MoveStage::rolled_back:
      return "the shard lives at the source again, with every write";
  }
  return "";
}

bool is_final(MoveStage stage) noexcept {
  switch (stage) {
    case MoveStage::done:
    case MoveStage::reverted:
    case MoveStage::rolled_back:
      return true;
    case MoveStage::planned:
    case MoveStage::mirroring:
    case MoveStage::backfilling:
    case MoveStage::verifying:
    case MoveStage::ready:
    case MoveStage::cut_over:
    case MoveStage::observing:
    case MoveStage::cleaning:
    case MoveStage::reverting:
    case MoveStage::rolling_back:
      return false;
  }
  return false;
}

bool can_abort(MoveStage stage) noexcept {
  switch (stage) {
    case MoveStage::planned:
    case MoveStage::mirroring:
    case MoveStage::backfilling:
    case MoveStage::verifying:
    case MoveStage::ready:
      return true;
    case MoveStage::cut_over:
    case MoveStage::observing:
    case MoveStage::cleaning:
    case MoveStage::done:
    case MoveStage::reverting:
    case MoveStage::reverted:
    case MoveStage::rolling_back:
    case MoveStage::rolled_back:
      return false;
  }
  return false;
}

bool can_roll_back(MoveStage stage) noexcept {
  return stage == MoveStage::cut_over || stage == MoveStage::observing;
}

bool can_follow(MoveStage from, MoveStage to) noexcept {
  // Straight to cut_over: a catalog that was restored from an older copy catches up with the homes.
  switch (from) {
    case MoveStage::planned:
      return to == MoveStage::mirroring || to == MoveStage::reverting || to == MoveStage::cut_over;
    case MoveStage::mirroring:
      return to == MoveStage::backfilling || to == MoveStage::reverting ||
             to == MoveStage::cut_over;
    case MoveStage::backfilling:
      return to == MoveStage::verifying || to == MoveStage::reverting || to == MoveStage::cut_over;
    case MoveStage::verifying:
      return to == MoveStage::ready || to == MoveStage::reverting || to == MoveStage::cut_over;
    case MoveStage::ready:
      return to == MoveStage::verifying || to == MoveStage::cut_over || to == MoveStage::reverting;
    case MoveStage::cut_over:
      return to == MoveStage::observing;
    case MoveStage::observing:
      return to == MoveStage::cleaning || to == MoveStage::rolling_back;
    case MoveStage::cleaning:
      return to == MoveStage::done;
    case MoveStage::reverting:
      return to == MoveStage::reverted;
    case MoveStage::rolling_back:
      // Stored a second time with the placement, before the other home is removed; given up if the
      // way back was lost.
      return to == MoveStage::rolling_back || to == MoveStage::rolled_back ||
             to == MoveStage::observing;
    case MoveStage::done:
    case MoveStage::reverted:
    case MoveStage::rolled_back:
      return false;
  }
  return false;
}

std::string_view to_string(MoveWish wish) noexcept {
  switch (wish) {
    case MoveWish::none:
      return "none";
    case MoveWish::pause:
      return "pause";
    case MoveWish::abort:
      return "abort";
    case MoveWish::roll_back:
      return "roll_back";
    case MoveWish::finalize:
      return "finalize";
  }
  return "unknown";
}

std::optional<MoveWish> parse_move_wish(std::string_view name) noexcept {
  for (const MoveWish wish : all_move_wishes)
    if (to_string(wish) == name) return wish;
  return std::nullopt;
}

std::string_view command_of(MoveWish wish) noexcept {
  switch (wish) {
    case MoveWish::none:
      return "resume";
    case MoveWish::pause:
      return "pause";
    case MoveWish::abort:
      return "abort";
    case MoveWish::roll_back:
      return "rollback";
    case MoveWish::finalize:
      return "finalize";
  }
  return "unknown";
}

bool can_be_wished(MoveWish wish, MoveStage stage) noexcept {
  switch (wish) {
    case MoveWish::none:
    case MoveWish::pause:
      return !is_final(stage);
    case MoveWish::abort:
      return can_abort(stage) || stage == MoveStage::reverting;
    case MoveWish::roll_back:
      return can_roll_back(stage) || stage == MoveStage::rolling_back;
    case MoveWish::finalize:
      return can_roll_back(stage) || stage == MoveStage::rolling_back ||
             stage == MoveStage::cleaning;
  }
  return false;
}

std::string way_out(MoveStage stage) {
  std::string ways;
  for (const MoveWish wish :
       {MoveWish::abort, MoveWish::roll_back, MoveWish::finalize, MoveWish::pause, MoveWish::none})
    if (can_be_wished(wish, stage))
      ways +=
          (ways.empty() ? "`ringshard " : ", `ringshard ") + std::string(command_of(wish)) + "`";
  return ways.empty() ? "the move is over and nothing can be done with it any more"
                      : "what can be done: " + ways;
}

}  // namespace ringshard
