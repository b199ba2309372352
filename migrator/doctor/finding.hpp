#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ringshard/ids.hpp>
#include <string>
#include <string_view>

namespace ringshard::cli {

/// What can be wrong with a fleet. The names are part of the JSON.
enum class FindingKind : std::uint8_t {
  half_move,              ///< unfinished, and nobody runs it
  leftover_home,          ///< neither the placement nor an unfinished move needs it
  missing_home,           ///< no home of a shard says owner
  two_owners,             ///< homes of one shard on two nodes say owner
  placement_behind,       ///< the placement names another node than the one that owns the shard
  handover_not_promoted,  ///< decided at the old owner, not known at the new one
  copy_not_certified,     ///< what shall become the owner is older than what was handed over to
  capture_left,           ///< an owner still records changes for a move that is over
  wrong_record,           ///< a home's record names another home
  unreadable_home,        ///< a home can not be read
  misplaced_rows,         ///< rows whose key belongs to another shard
  keyless_rows,           ///< rows that no key leads to
  reference_differs,      ///< a node's reference home is not like the others
  node_unreachable,       ///< a node could not be asked
};

std::string_view to_string(FindingKind kind) noexcept;

/// One thing that is wrong, with the command that mends it.
struct Finding {
  FindingKind kind = FindingKind::half_move;
  std::optional<ShardId> shard = {};
  std::string node = {};
  std::string move_id = {};
  std::string text = {};
  std::string command = {};
  /// What `doctor --mend` does about it; empty: it is not safe to do without being told. Throws if
  /// it can not be done.
  std::function<void()> mend = {};
  bool mended = false;
  std::string failure = {};  ///< why mending failed
};

}  // namespace ringshard::cli
