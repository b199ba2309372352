#pragma once

#include "backend/source.hpp"
#include "setup/division.hpp"
#include "setup/problems.hpp"

namespace ringshard::setup {

/// Notes the rows of an undivided database that have no place in the division: without a key or
/// with one of another type, without a parent, or pointing by a foreign key to a row of another
/// shard. Works in the session's open transaction.
void check_rows(SourceDatabase& source, const Division& division, HashStrategy hash,
                std::uint32_t shard_count, Problems& problems);

}  // namespace ringshard::setup
