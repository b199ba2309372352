#pragma once

#include <cstdint>
#include <string>

#include "migrator/cli.hpp"

namespace ringshard::cli {

// The texts of options as values. Each throws Error{invalid_argument} that names the text and says
// what is wrong with it.

Duration parse_duration(const std::string& text);
std::uint64_t parse_number(const std::string& text, std::uint64_t minimum, std::uint64_t maximum);
std::uint32_t parse_shard(const std::string& text);
BalanceBy parse_balance_by(const std::string& text);

/// "10%", "0.1" → 0.1.
double parse_share(const std::string& text);

/// A share below 1.
double parse_tolerance(const std::string& text);

/// A share above 0 and at most 1.
double parse_sample(const std::string& text);

}  // namespace ringshard::cli
