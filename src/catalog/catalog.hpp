#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ringshard/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/session.hpp"
#include "catalog/records.hpp"
#include "core/schema.hpp"

namespace ringshard {

/// The control database: keyspaces, nodes, placement, moves, events. Every change of the placement
/// or of a move's stage is one transaction that also writes an event and, where routers have to
/// know, raises the version. For one thread at a time; open one for each. Any number of processes
/// may use one catalog: a call that meets another's lock tries again for ten seconds, then throws
/// Error{conflict}. Any call may throw Error{unavailable} when the catalog can not be reached; a
/// later call connects again.
class Catalog {
 public:
  /// Opens a catalog; Error{not_found} if it is not there ("run `ringshard init`"), Error{refused}
  /// if it was made by a newer program whose format this one does not know.
  static Catalog open(const std::string& dsn, Clock& clock);

  /// Opens it, and makes it first if it is not there.
  static Catalog create(const std::string& dsn, Clock& clock);

  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;
  ~Catalog();

  /// A random id given when the catalog was made: tells two catalogs apart.
  const std::string& id() const noexcept;

  // --- keyspaces and placement
  /// Grows with each change that a router has to know. One cheap statement: what a poll asks.
  std::uint64_t version(std::string_view keyspace);

  std::optional<KeyspaceDefinition> keyspace(std::string_view name);

  /// Error{already_exists} if there is one of that name.
  void create_keyspace(const KeyspaceDefinition& definition, const std::vector<NodeInfo>& nodes,
                       const std::vector<std::uint16_t>& placement);
  void set_keyspace_state(std::string_view name, KeyspaceState state);
  /// What new homes are made of in one kind of database, from now on. Routers do not need to know.
  void store_schema(std::string_view name, std::string_view engine, const KeyspaceSchema& schema);
  /// Only one that is not ready: what an import that failed left. Its events stay. Error{refused}
  /// if it is ready.
  void drop_keyspace(std::string_view name);

  /// Marks a keyspace as importing and gives the setup an id. From here on no earlier setup can
  /// finish it: the newest wins. Error{refused} if it is ready.
  std::string begin_setup(std::string_view name);

  /// Error{lease_lost} if finish_setup() would throw it.
  void check_setup(std::string_view setup_id, std::string_view name);

  /// Stores tables and schemas of `definition` and the state ready or empty, as definition.state
  /// says. Error{lease_lost} if another setup has begun since, or the keyspace was dropped.
  void finish_setup(std::string_view setup_id, const KeyspaceDefinition& definition);

  /// What routers use. Error{not_found} without the keyspace; Error{refused} while its state is not
  /// ready, unless `any_state`.
  Topology topology(std::string_view keyspace, bool any_state = false);

  /// Adds nodes and changes weights, DSNs, zones and states; indexes of known nodes stay. Nodes are
  /// never deleted, their state becomes removed. Error{refused} for a removed node that still has
  /// shards.
  void store_nodes(std::string_view keyspace, const std::vector<NodeInfo>& nodes);
  std::vector<NodeInfo> nodes(std::string_view keyspace);

  /// Sets the placement of a shard to the node on which its owner was found, for a placement that
  /// fell behind (a catalog restored from a backup). Error{refused} while an unfinished move has
  /// the shard: that move sets it.
  void correct_placement(std::string_view keyspace, ShardId shard, std::string_view node);

  // --- moves
  /// Stores nodes and moves of a plan at once, all moves in stage planned. Error{stale_plan} unless
  /// the keyspace's version still is `made_at_version` and each shard is where its move says;
  /// Error{refused} if a shard of it is in a move that is not final, or would move to the node that
  /// it is on, to one that is not there or was removed.
  void start_plan(std::string_view keyspace, std::string_view plan_id,
                  std::uint64_t made_at_version, const std::vector<NodeInfo>& nodes,
                  const std::vector<MoveRecord>& moves);

  std::optional<MoveRecord> move(std::string_view move_id);
  /// In the order in which they were planned. `unfinished`: only those whose stage is not final.
  std::vector<MoveRecord> moves(std::string_view keyspace, bool unfinished);
  std::optional<MoveRecord> unfinished_move_of(std::string_view keyspace, ShardId shard);

  /// The one function that changes a stage: stores `move.stage` and everything else of `move` but
  /// its lease and wish, if the stored stage still is `expected`, the lease is held by
  /// `lease_holder` (and, as far as this clock knows, did not run out) and can_follow() allows it;
  /// where `placement` is given, the shard's placement too. One transaction, one event.
  /// Error{lease_lost} otherwise; Error{internal} for a step that can_follow() does not know.
  void store_stage(const MoveRecord& move, MoveStage expected, std::string_view lease_holder,
                   const std::optional<std::string>& placement = std::nullopt);

  /// Stores progress, verified_seq, verdict, error and pause without changing the stage.
  /// Error{lease_lost} as above.
  void store_progress(const MoveRecord& move, std::string_view lease_holder);

  /// What an operator wants of a move; whoever runs it looks at each step. Error{refused} if it can
  /// not be had in the stage that it is in (abort after the cutover, …), with what can.
  void wish(std::string_view move_id, MoveWish wish);
  MoveWish wish_of(std::string_view move_id);

  /// Takes or renews the lease of a move until now + duration. False if somebody else holds it and,
  /// as far as this clock knows, it did not run out.
  bool take_lease(std::string_view move_id, std::string_view holder, Duration duration);
  /// Takes the lease of the first of these moves, in the order of planning, that is not final and
  /// that nobody runs; nothing if there is none. So several migrators share a plan: each move is
  /// given to one of them, and none waits for another.
  std::optional<std::string> lease_next(const std::vector<std::string>& move_ids,
                                        std::string_view holder, Duration duration);
  void release_lease(std::string_view move_id, std::string_view holder) noexcept;

  // --- events: the audit log
  void add_event(const Event& event);
  /// The newest first, at most `limit`.
  std::vector<Event> events(std::string_view keyspace, std::int64_t limit);

 private:
  struct Implementation;
  explicit Catalog(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringshard
