#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

#include "migrator/plan/plan.hpp"

namespace ringshard::cli {

/// `file`: where the plan was written, if it was.
void print_text(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file);
void print_json(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file);

}  // namespace ringshard::cli
