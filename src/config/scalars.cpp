#include "config/scalars.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

namespace ringshard::config {
namespace {

using Unit = std::pair<std::string_view, std::uint64_t>;

bool is_variable_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front()))) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  });
}

// The value of what stands between ${ and }.
std::string variable(std::string_view inside) {
  const std::size_t split = inside.find(":-");
  const std::string name(inside.substr(0, split));
  if (!is_variable_name(name)) {
    throw ScalarError("has ${" + name + "}, which names no environment variable");
  }
  const char* value = std::getenv(name.c_str());
  const bool has_default = split != std::string_view::npos;
  if (value != nullptr && (*value != '\0' || !has_default)) return value;
  if (has_default) return std::string(inside.substr(split + 2));
  throw ScalarError("needs the environment variable " + name + ", which is not set");
}

std::string unit_names(const std::vector<Unit>& units) {
  std::string names;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i > 0) names += i + 1 == units.size() ? " or " : ", ";
    names += units[i].first;
  }
  return names;
}

// A whole number and a unit, in the smallest unit. At most 2^62, so that it fits in every duration.
std::uint64_t parse_with_unit(std::string_view text, const std::vector<Unit>& units) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc::invalid_argument) {
    throw ScalarError("must be a whole number with a unit (" + unit_names(units) + ")");
  }
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const auto found = std::find_if(units.begin(), units.end(),
                                  [&](const Unit& candidate) { return candidate.first == unit; });
  if (found == units.end()) {
    throw ScalarError("must end in a unit (" + unit_names(units) + ")");
  }
  constexpr std::uint64_t maximum = std::uint64_t{1} << 62;
  if (error != std::errc() || count > maximum / found->second) throw ScalarError("is too large");
  return count * found->second;
}

// Levenshtein distance: the least number of letters to insert, delete or replace.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Lower case and without separators, so that poolSizeMax and pool-size-max are near to
// pool_size_max.
std::string simplified(std::string_view word) {
  std::string result;
  for (char c : word) {
    if (c == '_' || c == '-' || c == ' ') continue;
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

std::string expand_environment(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
    } else if (text.substr(i + 1, 1) == "$") {
      result += '$';
      ++i;
    } else if (text.substr(i + 1, 1) == "{") {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos) throw ScalarError("has a ${ without a }");
      result += variable(text.substr(i + 2, end - i - 2));
      i = end;
    } else {
      throw ScalarError("has a $ that starts no ${VARIABLE}; write $$ for the character itself");
    }
  }
  return result;
}

std::chrono::milliseconds parse_duration(std::string_view text) {
  static const std::vector<Unit> units = {
      {"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  // Some are added to a time in nanoseconds: 100 years are still far from its end.
  constexpr std::uint64_t maximum = 36'500ULL * 86'400'000ULL;
  const std::uint64_t count = parse_with_unit(text, units);
  if (count > maximum) throw ScalarError("is longer than 100 years");
  return std::chrono::milliseconds(static_cast<std::int64_t>(count));
}

std::uint64_t parse_size(std::string_view text) {
  static const std::vector<Unit> units = {
      {"B", 1}, {"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30}};
  return parse_with_unit(text, units);
}

std::uint64_t parse_integer(std::string_view text, std::uint64_t minimum, std::uint64_t maximum) {
  std::uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || value < minimum || value > maximum) {
    throw ScalarError("must be a whole number from " + std::to_string(minimum) + " to " +
                      std::to_string(maximum));
  }
  return value;
}

double parse_positive(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value) || value <= 0) {
    throw ScalarError("must be a number above 0");
  }
  return value;
}

bool parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  throw ScalarError("must be true or false");
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  const std::string simple = simplified(word);
  std::optional<std::string> best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : candidates) {
    const std::string other = simplified(candidate);
    std::size_t distance = edit_distance(simple, other);
    // "poolsize" for "pool_size_max": the beginning is right.
    if (simple.size() >= 4 && other.rfind(simple, 0) == 0) distance = 1;
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (best_distance > std::max<std::size_t>(1, simple.size() / 3)) return std::nullopt;
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (const auto near = nearest(word, candidates)) return " (did you mean \"" + *near + "\"?)";
  std::string text = " (known: ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    text += (i == 0 ? "" : ", ") + candidates[i];
  }
  return text + ")";
}

std::optional<std::string> dsn_mistake(std::string_view dsn) {
  if (dsn.rfind("postgres:", 0) == 0 || dsn.rfind("postgresql:", 0) == 0) return std::nullopt;
  if (dsn.rfind("sqlite:", 0) != 0) {
    return "must start with sqlite: or postgres:, as in sqlite:/var/lib/shop/a";
  }
  const std::string_view path = dsn.substr(7);
  if (path.empty()) return "has no path after sqlite:";
  if (path == ":memory:") return "must be on disk: every connection would see a memory of its own";
  if (path.rfind("//", 0) == 0 && path.rfind("///", 0) != 0) {
    return "has a host, which SQLite has not; write sqlite:/absolute/path or sqlite:relative/path";
  }
  return std::nullopt;
}

std::string resolve_dsn(std::string_view dsn, const std::string& folder) {
  if (dsn.rfind("sqlite:", 0) != 0) return std::string(dsn);
  namespace fs = std::filesystem;
  fs::path path = fs::path(dsn.substr(7));
  path =
      path.is_absolute() ? path.lexically_normal() : (fs::path(folder) / path).lexically_normal();
  if (!path.has_filename() && path != path.root_path()) path = path.parent_path();
  return "sqlite:" + path.string();
}

}  // namespace ringshard::config
