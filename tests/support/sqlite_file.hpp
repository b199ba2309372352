#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ringshard::testing {

/// Runs SQL in an SQLite file, which is made if it is not there. Each row of a result is its values
/// with | between them.
std::vector<std::string> run_sql(const std::filesystem::path& file, const std::string& sql);

}  // namespace ringshard::testing
