#pragma once

#include <optional>
#include <ringshard/config.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "catalog/catalog.hpp"
#include "setup/division.hpp"
#include "setup/problems.hpp"

namespace ringshard::setup {

/// The catalog, or nothing if it is not there.
std::optional<Catalog> open_if_there(const std::string& dsn, Clock& clock);

/// Notes what a Dialect says against the tables that `session` sees.
void note_obstacles(Session& session, const Dialect& dialect, Problems& problems);

/// Throws what is in the way of using one of these nodes, before anything is made on any of them.
void require_usable(const std::vector<NodeInfo>& nodes, const BackendOptions& options,
                    Clock& clock);

/// The node whose database tries out new definitions: the first active one.
const NodeInfo& first_active(const std::vector<NodeInfo>& nodes);

/// Count and checksum of each table of a schema, as `session` sees it, added to `digests` (one for
/// each table, in order). For the portable form, the tables say what their columns hold.
void add_digests(Session& session, const Dialect& dialect, const HomeSchema& schema, RowForm form,
                 std::vector<Digest>& digests);

}  // namespace ringshard::setup
