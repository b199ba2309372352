#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>

#include "migrator/plan/plan.hpp"
#include "migrator/report/format.hpp"

namespace ringshard::cli {

/// `file`: where the plan was written, if it was.
void print_text(std::ostream& out, const Plan& plan,
                const std::optional<std::filesystem::path>& file);
Json to_json(const Plan& plan, const std::optional<std::filesystem::path>& file);

}  // namespace ringshard::cli
