#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <ringshard/error.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace ringshard::cli {

// Figures as text for people.
std::string count_text(std::int64_t number, std::string_view singular, std::string_view plural);
std::string percent_text(double share);          ///< 0.2515 → "25.2%"
std::string decimal_text(double number);         ///< three digits after the point
std::string bytes_text(std::int64_t bytes);      ///< "1.5 MiB"
std::string duration_text(std::int64_t ms);      ///< "1d 2h", "3m 5s", "250ms"
std::string time_text(std::int64_t unix_ms);     ///< "2024-05-01T12:00:00Z"
std::string microseconds_text(std::int64_t us);  ///< "12.3 ms"

std::string checksum_text(const Digest& digest);  ///< 32 hexadecimal digits

/// Columns with two spaces between them, each as wide as its widest cell.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  /// These columns are aligned to the right.
  TextTable& numbers(std::vector<std::size_t> columns);
  void add(std::vector<std::string> row);
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

/// {"error": {"code", "message", "retryable", "outcome_unknown", "shard", "sqlstate"}}; passwords
/// hidden.
void print_json(std::ostream& out, const Error& error);

}  // namespace ringshard::cli
