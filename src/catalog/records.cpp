#include "catalog/records.hpp"

#include <algorithm>
#include <array>

namespace ringshard {

namespace {

constexpr std::array keyspace_states{KeyspaceState::empty, KeyspaceState::importing,
                                     KeyspaceState::ready};

}  // namespace

bool KeyspaceDefinition::has_reference_tables() const noexcept {
  return std::ranges::any_of(
      schemas, [](const auto& schema) { return !schema.second.reference.statements.empty(); });
}

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

}  // namespace ringshard
