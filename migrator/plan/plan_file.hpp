#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "migrator/plan/plan.hpp"

namespace ringshard::cli {

// A plan as a file: JSON of format 1, with a checksum over everything else in it, so that what is
// applied is what was planned. DSNs are in it without their passwords: `apply` takes the DSN of a
// node from the configuration and refuses the plan if it is another one.

std::string serialize(const Plan& plan);

/// Throws Error{corrupt} if the text is no plan, was altered or cut off, or contradicts itself (a
/// move to its own node, a shard twice, an unknown node); Error{refused} for a format that this
/// program does not know.
Plan parse_plan(std::string_view text);

/// Throws Error{read_only}, Error{storage_full} or Error{not_found} if the file can not be written.
/// The file is whole or not there.
void write_plan(const Plan& plan, const std::filesystem::path& path);

/// Throws Error{not_found} if there is no such file, and as parse_plan() does.
Plan read_plan(const std::filesystem::path& path);

}  // namespace ringshard::cli
