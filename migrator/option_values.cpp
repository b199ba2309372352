#include "migrator/option_values.hpp"

#include <charconv>
#include <ringshard/error.hpp>
#include <ringshard/ids.hpp>
#include <string_view>
#include <system_error>

#include "config/scalars.hpp"

namespace ringshard::cli {
namespace {

Error wrong(const std::string& text, const std::string& what) {
  return Error(ErrorCode::invalid_argument, "'" + text + "' " + what);
}

}  // namespace

Duration parse_duration(const std::string& text) {
  try {
    return config::parse_duration(text);
  } catch (const config::ScalarError& error) {
    throw wrong(text, error.what());
  }
}

std::uint64_t parse_number(const std::string& text, std::uint64_t minimum, std::uint64_t maximum) {
  try {
    return config::parse_integer(text, minimum, maximum);
  } catch (const config::ScalarError& error) {
    throw wrong(text, error.what());
  }
}

std::uint32_t parse_shard(const std::string& text) {
  return static_cast<std::uint32_t>(parse_number(text, 0, shard_count_max - 1));
}

BalanceBy parse_balance_by(const std::string& text) {
  for (const BalanceBy by : {BalanceBy::shards, BalanceBy::rows, BalanceBy::bytes})
    if (to_string(by) == text) return by;
  throw wrong(text, "is none of shards, rows, bytes");
}

double parse_share(const std::string& text) {
  std::string_view digits = text;
  const bool percent = digits.ends_with('%');
  if (percent) digits.remove_suffix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || !(number >= 0))
    throw wrong(text, "is not a part, such as 10% or 0.1");
  return percent ? number / 100 : number;
}

double parse_tolerance(const std::string& text) {
  const double share = parse_share(text);
  if (share >= 1) throw wrong(text, "is not below 100%");
  return share;
}

double parse_sample(const std::string& text) {
  const double share = parse_share(text);
  if (share <= 0 || share > 1) throw wrong(text, "is not more than 0% and at most 100%");
  return share;
}

std::string_view to_string(BalanceBy by) noexcept {
  switch (by) {
    case BalanceBy::shards:
      return "shards";
    case BalanceBy::rows:
      return "rows";
    case BalanceBy::bytes:
      return "bytes";
  }
  return "unknown";
}

}  // namespace ringshard::cli
