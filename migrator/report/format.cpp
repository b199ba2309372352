#include "migrator/report/format.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <ostream>
#include <ringshard/config.hpp>
#include <utility>

#include "core/row_hash.hpp"
#include "migrator/report/json.hpp"

namespace ringshard::cli {
namespace {

std::string printed(const char* format, double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// Characters, not bytes: names may hold any letters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string count_text(std::int64_t number, std::string_view singular, std::string_view plural) {
  return std::to_string(number) + " " + std::string(number == 1 ? singular : plural);
}

std::string percent_text(double share) { return printed("%.1f%%", share * 100); }

std::string decimal_text(double number) { return printed("%.3f", number); }

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return printed("%.1f ", amount) + units[unit];
}

std::string duration_text(std::int64_t ms) {
  if (ms < 1000) return std::to_string(ms) + "ms";
  const std::int64_t seconds = ms / 1000;
  const auto two = [](std::int64_t large, const char* large_unit, std::int64_t small,
                      const char* small_unit) {
    std::string text = std::to_string(large) + large_unit;
    if (small != 0) text += " " + std::to_string(small) + small_unit;
    return text;
  };
  if (seconds < 60) return printed("%.1fs", static_cast<double>(ms) / 1000);
  if (seconds < 3600) return two(seconds / 60, "m", seconds % 60, "s");
  if (seconds < 86400) return two(seconds / 3600, "h", seconds % 3600 / 60, "m");
  return two(seconds / 86400, "d", seconds % 86400 / 3600, "h");
}

std::string time_text(std::int64_t unix_ms) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return std::to_string(unix_ms);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string microseconds_text(std::int64_t us) {
  return printed("%.1f ms", static_cast<double>(us) / 1000);
}

std::string checksum_text(const Digest& digest) {
  return core::hex16(digest.sum_high) + core::hex16(digest.sum_low);
}

TextTable::TextTable(std::vector<std::string> header) : right_(header.size(), false) {
  rows_.push_back(std::move(header));
}

TextTable& TextTable::numbers(std::vector<std::size_t> columns) {
  for (const std::size_t column : columns) right_[column] = true;
  return *this;
}

void TextTable::add(std::vector<std::string> row) {
  row.resize(right_.size());
  rows_.push_back(std::move(row));
}

void TextTable::print(std::ostream& out) const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      line += (i == 0 ? "" : "  ");
      line += right_[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

Json to_json(const Error& error) {
  Json json = {{"code", ringshard::to_string(error.code())},
               {"message", redact(error.what())},
               {"retryable", error.retryable()},
               {"outcome_unknown", error.outcome_unknown()},
               {"shard", nullptr},
               {"sqlstate", nullptr}};
  if (error.shard()) json["shard"] = error.shard()->value;
  if (!error.sqlstate().empty()) json["sqlstate"] = error.sqlstate();
  return json;
}

void print_json(std::ostream& out, const Error& error) { print(out, {{"error", to_json(error)}}); }

void print(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace ringshard::cli
