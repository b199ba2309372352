#pragma once

#include <functional>
#include <optional>

#include "core/schema.hpp"
#include "mover/home_pair.hpp"
#include "mover/options.hpp"

namespace ringshard {

/// The tables of the owner, if they can be moved. Error{schema} naming everything that stands in
/// the way.
HomeSchema movable_schema(HomePair& pair);

/// Expects an owner at rest, or one on which this very step was broken off. Afterwards the target
/// home exists as a mirror with the owner's tables, and every change that the owner commits from
/// here on is in its change log. May be done again from its start. Waits for the writers in flight,
/// a short time at once, `options.lock_wait` in all. `foreign`: what the target is made of in
/// another kind of database; otherwise it gets the owner's definitions.
void start_capture(HomePair& pair, const std::optional<HomeSchema>& foreign,
                   const MoveOptions& options);

/// Expects an owner of this move (or one at rest already); afterwards it is at rest: no triggers,
/// no log, no peer, leg 0.
void stop_capture(HomePair& pair, const MoveOptions& options);

/// The same for a home outside of a move. In short transactions, each of which calls `require` with
/// the record that it finds under its lock: it throws if this home is not the one that was meant.
void end_capture(HomeStore& store, const HomeName& home, Clock& clock, const MoveOptions& options,
                 const std::function<void(const std::optional<HomeRecord>&)>& require);

/// Makes this mover the one whose effects both homes accept: what another one still tries is
/// refused from here on. A home that does not exist, or is of no move, is left alone; one of
/// another move is Error{refused}. With `giving_up`, a mirror that can not be reached or written is
/// left unclaimed: what a late mover still writes there is dropped with it, and the owner, which
/// refuses that mover, can be freed of the move.
void claim_homes(HomePair& pair, const MoveOptions& options, bool giving_up = false);

}  // namespace ringshard
