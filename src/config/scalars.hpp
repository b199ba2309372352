#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ringshard::config {

/// A value that can not be read; the text continues a sentence: "… has no unit (ms, s, m, h or d)".
class ScalarError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Replaces ${NAME} and ${NAME:-default} by environment variables and $$ by $. Throws ScalarError
/// for a variable that is not set and has no default, and for a $ that starts none of these.
std::string expand_environment(std::string_view text);

/// "250ms", "10s", "5m", "24h", "7d". Throws ScalarError.
std::chrono::milliseconds parse_duration(std::string_view text);

/// "512B", "64KiB", "8MiB", "1GiB", in bytes. Throws ScalarError.
std::uint64_t parse_size(std::string_view text);

/// A whole number in minimum … maximum, in decimal digits. Throws ScalarError.
std::uint64_t parse_integer(std::string_view text, std::uint64_t minimum, std::uint64_t maximum);

/// A finite number above 0. Throws ScalarError.
double parse_positive(std::string_view text);

/// "true" or "false". Throws ScalarError.
bool parse_bool(std::string_view text);

/// The candidate that `word` was probably meant to be, by the number of letters to change.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates);

/// ` (did you mean "…"?)` or ` (known: …)`.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// Why a DSN can not be used, or nothing. The text has no password in it.
std::optional<std::string> dsn_mistake(std::string_view dsn);

/// A DSN with its relative SQLite path taken from `folder`; others as they are.
std::string resolve_dsn(std::string_view dsn, const std::string& folder);

}  // namespace ringshard::config
