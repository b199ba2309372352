#include "mover/cleanup.hpp"

#include <ringshard/error.hpp>

#include "mover/capture.hpp"
#include "support/fault.hpp"

namespace ringshard {

void remove_mirror(Catalog& catalog, HomePair& pair, const MoveOptions& options,
                   const std::string& placement) {
  const Leg& leg = pair.leg();
  const Topology topology = catalog.topology(leg.home.keyspace);
  const std::string& placed = topology.node(topology.node_of(*leg.home.shard)).name;
  if (placed != placement || placed != leg.owner)
    throw Error(ErrorCode::refused, "the catalog places " + leg.home.str() + " on node '" + placed +
                                        "', expected '" + leg.owner + "'; nothing was removed");
  // Refuses unless the owner's record agrees.
  stop_capture(pair, options);
  pair.disconnect();
  std::optional<HomeRecord> other;
  const auto is_mirror_of_this = [&](const std::optional<HomeRecord>& record) {
    other = record;
    return !record || (record->role == Role::mirror && record->move_id == leg.move_id);
  };
  if (!pair.mirror_backend().drop_home_if(leg.home, is_mirror_of_this,
                                          Deadline::after(pair.clock(), options.lock_wait)))
    throw Error(ErrorCode::refused, "home " + leg.home.str() + " on node '" + leg.mirror +
                                        "' says " + describe(other) +
                                        ", expected a mirror of this move; it was not removed");
  fault::hit(FaultPoint::home_dropped);
}

}  // namespace ringshard
