#include "core/schema.hpp"

#include <algorithm>
#include <iterator>

namespace ringshard {

Row primary_key_of(const Table& table, RowView row) {
  Row key;
  key.reserve(table.key_positions.size());
  for (const std::size_t position : table.key_positions) key.push_back(to_value(row[position]));
  return key;
}

const Table* HomeSchema::find(std::string_view table_name) const noexcept {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const Table& table) { return table.name == table_name; });
  return found == tables.end() ? nullptr : &*found;
}

std::optional<std::string> difference(const HomeSchema& left, const HomeSchema& right) {
  // The order of creation does not matter: an index that was dropped and made again is the same
  // index.
  std::vector<std::string> only_left = left.statements;
  std::vector<std::string> only_right = right.statements;
  std::sort(only_left.begin(), only_left.end());
  std::sort(only_right.begin(), only_right.end());
  std::vector<std::string> missing;
  std::set_difference(only_left.begin(), only_left.end(), only_right.begin(), only_right.end(),
                      std::back_inserter(missing));
  if (!missing.empty()) return "only on one side: " + missing.front();
  std::set_difference(only_right.begin(), only_right.end(), only_left.begin(), only_left.end(),
                      std::back_inserter(missing));
  if (!missing.empty()) return "only on the other side: " + missing.front();
  return std::nullopt;
}

}  // namespace ringshard
