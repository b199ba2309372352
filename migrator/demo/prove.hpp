#pragma once

#include <filesystem>
#include <ostream>

namespace ringshard::demo {

/// The JSON that the programs of a demonstration printed.
struct Evidence {
  std::filesystem::path plan;
  std::filesystem::path apply;
  std::filesystem::path workload;
  std::filesystem::path audit;
  std::filesystem::path verify;
  double pause_budget_ms = 250;
};

/// Prints what was proved, a line each, with what it had to be; returns false if one is not so.
/// Throws what reading the files throws.
bool prove(const Evidence& evidence, std::ostream& out);

}  // namespace ringshard::demo
