#pragma once

#include <filesystem>
#include <optional>
#include <ringshard/topology.hpp>

namespace ringshard::router {

/// The file from which a router starts while the catalog is away. It holds DSNs: readable by its
/// owner only.

/// Nothing if there is no such file. Error{corrupt} or Error{unavailable}, naming the file, if it
/// can not be read.
std::optional<Topology> read_topology_cache(const std::filesystem::path& path);

/// Replaces the file as a whole: after a crash there is the old one or the new one. Makes its
/// folder. Error{storage_full}, Error{read_only} or Error{unavailable} that names the file.
void write_topology_cache(const std::filesystem::path& path, const Topology& topology);

}  // namespace ringshard::router
