#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "migrator/plan/plan.hpp"
#include "migrator/plan/preflight.hpp"

namespace ringshard::cli {

/// `file`: where the plan was written, if it was.
void print_text(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file);
void print_json(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file,
                const std::vector<PreflightFinding>& findings);

struct PreflightReport {
  std::string keyspace;
  std::int64_t moves = 0;  ///< that were looked at
  std::vector<PreflightFinding> findings;
};

void print_text(std::ostream& out, const PreflightReport& report);
void print_json(std::ostream& out, const PreflightReport& report);

}  // namespace ringshard::cli
