#include <algorithm>
#include <ringshard/error.hpp>

#include "backend/portable/portable.hpp"

namespace ringshard::portable {

namespace {

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool compares_bytes(std::string_view collation) {
  static constexpr std::string_view names[] = {"C",      "POSIX",     "C.UTF-8",
                                               "C.utf8", "ucs_basic", "pg_c_utf8"};
  if (collation.size() > 2 && collation.front() == '"')
    collation = collation.substr(1, collation.size() - 2);
  return std::ranges::find(names, collation) != std::end(names);
}

// Nothing if values of this key column are in the same order on both sides.
std::string order_problem(const Table& typed, const Table& untyped, std::size_t part) {
  const std::string& column = typed.key[part];
  switch (typed.kinds[typed.key_positions[part]]) {
    case ColumnKind::integer:
    case ColumnKind::boolean:
    case ColumnKind::bytes:
    case ColumnKind::uuid:
      return {};
    case ColumnKind::text:
      if (!untyped.key_collations[part].empty())
        return "column " + column + " of its primary key has the collation " +
               untyped.key_collations[part] + " on one side, which the other does not have";
      if (!compares_bytes(typed.key_collations[part]))
        return "column " + column +
               " of its primary key is not in the order of its bytes on one side, as it is on the "
               "other: declare it with COLLATE \"C\" there";
      return {};
    case ColumnKind::real4:
    case ColumnKind::real8:
    case ColumnKind::decimal:
    case ColumnKind::padded_text:
    case ColumnKind::timestamp:
    case ColumnKind::timestamp_utc:
    case ColumnKind::json:
    case ColumnKind::other:
      break;
  }
  return "column " + column +
         " of its primary key is neither an integer, a text, a UUID nor bytes, and other values "
         "are not in the same order in both databases";
}

// Nothing if both take the same values of a further unique key for equal.
std::string unique_problem(const Table& typed, const std::vector<std::string>& columns) {
  for (const std::string& column : columns) {
    const auto at = std::ranges::find(typed.columns, column);
    const bool known = at != typed.columns.end();
    switch (known ? typed.kinds[static_cast<std::size_t>(at - typed.columns.begin())]
                  : ColumnKind::other) {
      case ColumnKind::integer:
      case ColumnKind::boolean:
      case ColumnKind::real8:
      case ColumnKind::decimal:
      case ColumnKind::text:
      case ColumnKind::bytes:
        continue;
      case ColumnKind::real4:
      case ColumnKind::padded_text:
      case ColumnKind::uuid:
      case ColumnKind::timestamp:
      case ColumnKind::timestamp_utc:
      case ColumnKind::json:
      case ColumnKind::other:
        return "has a unique key on " + column +
               ", of whose values the two databases do not take the same ones for equal";
    }
  }
  return {};
}

void compare_unique_keys(const Table& typed, const Table& untyped,
                         std::vector<Obstacle>& obstacles) {
  const auto sorted = [](std::vector<std::vector<std::string>> keys) {
    for (std::vector<std::string>& key : keys) std::ranges::sort(key);
    std::ranges::sort(keys);
    return keys;
  };
  if (typed.has_special_unique_keys || untyped.has_special_unique_keys)
    obstacles.push_back({typed.name,
                         "has a unique key with a condition, an expression or a collation of its "
                         "own on one side: both databases have to refuse the same rows"});
  if (sorted(typed.unique_keys) != sorted(untyped.unique_keys))
    obstacles.push_back({typed.name,
                         "has other unique keys on one side than on the other: both databases have "
                         "to refuse the same rows"});
  for (const std::vector<std::string>& key : typed.unique_keys)
    if (const std::string problem = unique_problem(typed, key); !problem.empty())
      obstacles.push_back({typed.name, problem});
}

void compare(const Table& typed, const Table& untyped, std::vector<Obstacle>& obstacles) {
  const auto add = [&](const std::string& reason) { obstacles.push_back({typed.name, reason}); };
  if (typed.columns != untyped.columns)
    return add("has the columns " + list(typed.columns) + " on one side and " +
               list(untyped.columns) + " on the other: both need the same ones in the same order");
  if (typed.key != untyped.key)
    return add("has the primary key (" + list(typed.key) + ") on one side and (" +
               list(untyped.key) + ") on the other");
  for (std::size_t part = 0; part < typed.key.size(); ++part) {
    const std::string problem = order_problem(typed, untyped, part);
    if (!problem.empty()) add(problem);
  }
  compare_unique_keys(typed, untyped, obstacles);
}

bool is_typed(const HomeSchema& schema) noexcept {
  return std::ranges::any_of(schema.tables,
                             [](const Table& table) { return !table.kinds.empty(); });
}

}  // namespace

const HomeSchema& typed_of(const HomeSchema& left, const HomeSchema& right) noexcept {
  return is_typed(left) ? left : right;
}

void require_portable_key(const Table& typed, const Row& key) {
  for (std::size_t part = 0; part < key.size(); ++part) {
    const ColumnKind kind = typed.kinds[typed.key_positions[part]];
    std::string text;
    append_value(text, kind, view(key[part]));
    const auto* own = std::get_if<std::string>(&key[part]);
    const bool misfit = text.find('\0') != std::string::npos;
    const bool respelled = kind == ColumnKind::uuid && (own == nullptr || *own != text);
    if (!misfit && !respelled) continue;
    throw Error(ErrorCode::schema, "table " + typed.name + " has a row whose primary key " +
                                       describe(key) + " the other database writes in another way" +
                                       (respelled ? ": write UUIDs in lower case, as 36 characters"
                                                  : ": its column has to hold values of one type") +
                                       "; correct it, then resume or abort");
  }
}

std::vector<Obstacle> obstacles(const HomeSchema& left, const HomeSchema& right) {
  const HomeSchema& typed = typed_of(left, right);
  const HomeSchema& untyped = &typed == &left ? right : left;
  std::vector<Obstacle> found;
  for (const Table& table : typed.tables) {
    if (const Table* other = untyped.find(table.name))
      compare(table, *other, found);
    else
      found.push_back({table.name, "is on one side only"});
  }
  for (const Table& table : untyped.tables)
    if (typed.find(table.name) == nullptr) found.push_back({table.name, "is on one side only"});
  return found;
}

}  // namespace ringshard::portable
