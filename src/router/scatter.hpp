#pragma once

#include <functional>
#include <optional>
#include <ringshard/cluster.hpp>
#include <ringshard/error.hpp>
#include <ringshard/ids.hpp>
#include <vector>

#include "router/router.hpp"
#include "router/view.hpp"

namespace ringshard::router {

using ScatterWork = std::function<void(ShardId, ReadTransaction&)>;

/// Runs `work` on every shard of `view`, in the calling thread and a bounded number of others. At
/// any moment no node has more than per_node_max of them, so a slow one can not hold up the rest.
/// Returns what failed, by shard; an exception that is no Error is thrown after all threads have
/// ended.
std::vector<std::optional<Error>> scatter(Router& router, const View& view, const ScatterWork& work,
                                          const ScatterOptions& options);

}  // namespace ringshard::router
