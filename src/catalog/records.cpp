#include "catalog/records.hpp"

#include <array>

namespace ringshard {

namespace {

constexpr std::array keyspace_states{KeyspaceState::empty, KeyspaceState::importing,
                                     KeyspaceState::ready};
constexpr std::array move_wishes{MoveWish::none, MoveWish::pause, MoveWish::abort,
                                 MoveWish::roll_back, MoveWish::finalize};

}  // namespace

std::string_view to_string(KeyspaceState state) noexcept {
  switch (state) {
    case KeyspaceState::empty:
      return "empty";
    case KeyspaceState::importing:
      return "importing";
    case KeyspaceState::ready:
      return "ready";
  }
  return "unknown";
}

std::optional<KeyspaceState> parse_keyspace_state(std::string_view name) noexcept {
  for (const KeyspaceState state : keyspace_states)
    if (to_string(state) == name) return state;
  return std::nullopt;
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
  for (const MoveWish wish : move_wishes)
    if (to_string(wish) == name) return wish;
  return std::nullopt;
}

}  // namespace ringshard
