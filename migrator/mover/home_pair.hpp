#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/home_store.hpp"
#include "core/home.hpp"
#include "mover/lock_guard.hpp"
#include "mover/nodes.hpp"

namespace ringshard {

/// The direction of one leg of a move.
struct Leg {
  HomeName home;
  std::string move_id;
  std::string mover;  ///< the lease holder on whose behalf this is done
  std::int64_t number = 1;
  std::string owner;  ///< node names
  std::string mirror;

  /// The same two homes after ownership changed hands.
  Leg next() const;

  /// The records that the two homes have while this leg lasts.
  HomeRecord owner_record() const;
  HomeRecord mirror_record() const;
};

/// The two homes of a move as one leg sees them: changes flow from the owner to the mirror.
/// Sessions are opened on first use and after disconnect(). For one thread at a time.
class HomePair {
 public:
  HomePair(Nodes& nodes, Leg leg) : nodes_(nodes), leg_(std::move(leg)) {}

  const Leg& leg() const noexcept { return leg_; }
  const HomeName& home() const noexcept { return leg_.home; }
  Clock& clock() noexcept { return nodes_.clock(); }
  Backend& owner_backend() { return nodes_.at(leg_.owner); }
  Backend& mirror_backend() { return nodes_.at(leg_.mirror); }

  /// What rows of the two are compared in.
  RowForm form() { return form_between(owner_backend().dialect(), mirror_backend().dialect()); }

  HomeStore& owner() { return connected(owner_, leg_.owner); }
  HomeStore& mirror() { return connected(mirror_, leg_.mirror); }

  /// Forgets both sessions: what they saw may not be what is there now.
  void disconnect() noexcept;

 private:
  struct Side {
    std::unique_ptr<Session> session;
    std::unique_ptr<HomeStore> store;
  };
  HomeStore& connected(Side& side, const std::string& node);

  Nodes& nodes_;
  const Leg leg_;
  Side owner_;
  Side mirror_;
};

/// Begins a transaction at the owner, or at the mirror, of a leg, and makes sure that the home's
/// record still says so, of this move, this leg and this mover: the guard of every effect.
/// Error{lease_lost} if another mover took over, Error{refused} for anything else, naming what was
/// found.
class OwnerTransaction {
 public:
  OwnerTransaction(HomePair& pair, TxMode mode, Deadline lock_deadline);
  HomeStore& store() noexcept { return store_; }
  const HomeRecord& record() const { return *tx_.record(); }
  void commit() { tx_.commit(); }

 private:
  HomeStore& store_;
  std::optional<LockGuard::Watch> watch_;  // a stopped migrator must not hold writers for ever
  SessionTransaction tx_;
};

class MirrorTransaction {
 public:
  MirrorTransaction(HomePair& pair, TxMode mode, Deadline lock_deadline);
  HomeStore& store() noexcept { return store_; }
  void commit() { tx_.commit(); }

 private:
  HomeStore& store_;
  std::optional<LockGuard::Watch> watch_;
  SessionTransaction tx_;
};

/// The tables that both homes have, in equal definitions and with all of their changes recorded; of
/// two kinds of databases as the one describes them that knows what the columns hold.
/// Error{schema} naming what is not so: somebody changed a table in the middle of the move.
std::vector<Table> common_tables(HomePair& pair);
void require_equal_definitions(HomeStore& owner, HomeStore& mirror);

/// Where the two are of different kinds: Error{schema} for a key of `rows` that the mirror's
/// database writes in another way.
void require_portable_keys(HomePair& pair, HomeStore& mirror, std::span<const RowChange> rows);

/// Error{schema} naming a table whose changes this home does not record any more. Changes were lost
/// then, whatever was made again since.
void require_whole_capture(HomeStore& home);

/// For errors: what describe(HomeRecord) says, or "no home".
std::string describe(const std::optional<HomeRecord>& record);

}  // namespace ringshard
