#pragma once

#include <filesystem>
#include <optional>

#include "core/home.hpp"
#include "core/schema.hpp"

namespace ringshard::sqlite {

/// Writes a whole new home into `file`, which must not exist and which nobody else may touch
/// meanwhile; on the storage when this returns. A shard's home is in WAL mode, a reference home,
/// without a record, is not.
void build_home(const std::filesystem::path& file, const HomeName& home,
                const std::optional<HomeRecord>& record, const HomeSchema& schema);

}  // namespace ringshard::sqlite
