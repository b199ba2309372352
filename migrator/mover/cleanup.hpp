#pragma once

#include <string>

#include "catalog/catalog.hpp"
#include "mover/home_pair.hpp"
#include "mover/options.hpp"

namespace ringshard {

/// Ends the capture at the owner of this leg and removes the other home. Before anything is removed
/// the catalog, both records and the move agree on who the owner is: `placement` is the node on
/// which the move wants the shard. Error{refused} if they do not; nothing was removed then.
void remove_mirror(Catalog& catalog, HomePair& pair, const MoveOptions& options,
                   const std::string& placement);

}  // namespace ringshard
