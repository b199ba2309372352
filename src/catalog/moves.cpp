#include <chrono>
#include <ringshard/error.hpp>
#include <set>

#include "catalog/implementation.hpp"

namespace ringshard {

namespace {

const std::string move_columns =
    "id, plan_id, keyspace, shard, source, target, stage, wish, verified_seq, differences_found, "
    "error, rows_copied, rows_verified, changes_applied, bytes_estimated, rows_estimated, "
    "cutover_attempts, pause_us, observe_until_ms, created_ms, updated_ms, lease_holder, "
    "lease_until_ms";

MoveStage stage_of(const Value& value) {
  const auto stage = parse_move_stage(text_of(value));
  if (!stage)
    throw Error(ErrorCode::corrupt, "the catalog holds the unknown move stage " + text_of(value));
  return *stage;
}

MoveWish wish_from(const Value& value) {
  const auto wish = parse_move_wish(text_of(value));
  if (!wish)
    throw Error(ErrorCode::corrupt, "the catalog holds the unknown wish " + text_of(value));
  return *wish;
}

MoveRecord to_move(const Row& row) {
  return {.id = text_of(row[0]),
          .plan_id = text_of(row[1]),
          .keyspace = text_of(row[2]),
          .shard = ShardId{static_cast<std::uint32_t>(integer_of(row[3]))},
          .source = text_of(row[4]),
          .target = text_of(row[5]),
          .stage = stage_of(row[6]),
          .wish = wish_from(row[7]),
          .verified_seq = integer_of(row[8]),
          .differences_found = integer_of(row[9]) != 0,
          .error = text_of(row[10]),
          .rows_copied = integer_of(row[11]),
          .rows_verified = integer_of(row[12]),
          .changes_applied = integer_of(row[13]),
          .bytes_estimated = integer_of(row[14]),
          .rows_estimated = integer_of(row[15]),
          .cutover_attempts = integer_of(row[16]),
          .pause_us = integer_of(row[17]),
          .observe_until_ms = integer_of(row[18]),
          .created_ms = integer_of(row[19]),
          .updated_ms = integer_of(row[20]),
          .lease_holder = text_of(row[21]),
          .lease_until_ms = integer_of(row[22])};
}

void insert_move(Session& session, const MoveRecord& move) {
  session.execute("INSERT INTO ringshard_move (position, is_final, " + move_columns +
                      ") VALUES ((SELECT COALESCE(MAX(position), 0) + 1 FROM ringshard_move), 0, " +
                      placeholders(23) + ")",
                  {std::string_view(move.id),
                   std::string_view(move.plan_id),
                   std::string_view(move.keyspace),
                   std::int64_t{move.shard.value},
                   std::string_view(move.source),
                   std::string_view(move.target),
                   to_string(move.stage),
                   to_string(move.wish),
                   move.verified_seq,
                   std::int64_t{move.differences_found ? 1 : 0},
                   std::string_view(move.error),
                   move.rows_copied,
                   move.rows_verified,
                   move.changes_applied,
                   move.bytes_estimated,
                   move.rows_estimated,
                   move.cutover_attempts,
                   move.pause_us,
                   move.observe_until_ms,
                   move.created_ms,
                   move.updated_ms,
                   std::string_view(move.lease_holder),
                   move.lease_until_ms});
}

/// Everything but identity, wish and lease.
void update_move(Session& session, const MoveRecord& move, std::int64_t now_ms) {
  session.execute(
      "UPDATE ringshard_move SET stage = $2, is_final = $3, verified_seq = $4, "
      "differences_found = $5, error = $6, rows_copied = $7, rows_verified = $8, "
      "changes_applied = $9, bytes_estimated = $10, rows_estimated = $11, cutover_attempts = $12, "
      "pause_us = $13, observe_until_ms = $14, updated_ms = $15 WHERE id = $1",
      {std::string_view(move.id), to_string(move.stage), std::int64_t{is_final(move.stage) ? 1 : 0},
       move.verified_seq, std::int64_t{move.differences_found ? 1 : 0},
       std::string_view(move.error), move.rows_copied, move.rows_verified, move.changes_applied,
       move.bytes_estimated, move.rows_estimated, move.cutover_attempts, move.pause_us,
       move.observe_until_ms, now_ms});
}

void require_lease(const MoveRecord& stored, std::string_view holder, std::int64_t now_ms) {
  if (stored.lease_holder != holder)
    throw Error(ErrorCode::lease_lost,
                "move " + stored.id + " is run by " +
                    (stored.lease_holder.empty() ? "nobody" : "'" + stored.lease_holder + "'") +
                    " now, not by '" + std::string(holder) + "'");
  if (stored.lease_until_ms <= now_ms)
    throw Error(ErrorCode::lease_lost,
                "the lease of '" + std::string(holder) + "' on move " + stored.id + " ran out " +
                    std::to_string(now_ms - stored.lease_until_ms) + " ms ago");
}

std::string_view participle(MoveWish wish) {
  switch (wish) {
    case MoveWish::none:
      return "resumed";
    case MoveWish::pause:
      return "paused";
    case MoveWish::abort:
      return "aborted";
    case MoveWish::roll_back:
      return "rolled back";
    case MoveWish::finalize:
      return "finalized";
  }
  return "changed";
}

const NodeInfo* find(const std::vector<NodeInfo>& nodes, std::string_view name) {
  for (const NodeInfo& node : nodes)
    if (node.name == name) return &node;
  return nullptr;
}

void require_target(const std::vector<NodeInfo>& nodes, const MoveRecord& move) {
  const std::string shard = "shard " + std::to_string(move.shard.value);
  if (move.source == move.target)
    throw Error(ErrorCode::refused,
                shard + " is on node '" + move.target + "' already: a move to itself is no move");
  const NodeInfo* target = find(nodes, move.target);
  if (target == nullptr)
    throw Error(ErrorCode::not_found, shard + " is to move to node '" + move.target +
                                          "', which the keyspace does not have");
  if (target->state == NodeState::removed)
    throw Error(ErrorCode::refused,
                shard + " is to move to node '" + move.target + "', which was removed");
}

std::optional<MoveRecord> find_unfinished(Session& session, std::string_view keyspace,
                                          ShardId shard) {
  const auto row = session.first_row(
      "SELECT " + move_columns +
          " FROM ringshard_move WHERE keyspace = $1 AND shard = $2 AND is_final = 0",
      {keyspace, std::int64_t{shard.value}});
  return row ? std::optional(to_move(*row)) : std::nullopt;
}

}  // namespace

MoveRecord Catalog::Implementation::load_move(std::string_view move_id) {
  const auto row = session->first_row(
      "SELECT " + move_columns + " FROM ringshard_move WHERE id = $1", {move_id});
  if (!row)
    throw Error(ErrorCode::not_found,
                "the catalog has no move '" + std::string(move_id) + "': see `ringshard status`");
  return to_move(*row);
}

void Catalog::start_plan(std::string_view keyspace, std::string_view plan_id,
                         std::uint64_t made_at_version, const std::vector<NodeInfo>& nodes,
                         const std::vector<MoveRecord>& moves) {
  implementation_->write([&](Session& session) {
    const std::uint64_t version = implementation_->version_of(keyspace);
    if (version != made_at_version)
      throw Error(ErrorCode::stale_plan,
                  "the plan was made at version " + std::to_string(made_at_version) +
                      " of keyspace '" + std::string(keyspace) + "', which now is at " +
                      std::to_string(version) + ": run `ringshard plan` again");
    implementation_->upsert_nodes(keyspace, nodes);
    const std::vector<NodeInfo> all_nodes = implementation_->nodes_of(keyspace);
    const std::int64_t now = implementation_->clock.unix_ms();
    for (const MoveRecord& move : moves) {
      const std::string shard = "shard " + std::to_string(move.shard.value);
      require_target(all_nodes, move);
      if (const auto other = find_unfinished(session, keyspace, move.shard))
        throw Error(ErrorCode::refused, shard + " is in move " + other->id + ", in stage " +
                                            std::string(to_string(other->stage)) +
                                            ": finish or abort that one first")
            .with_shard(move.shard);
      if (const std::string owner = implementation_->node_of(keyspace, move.shard);
          owner != move.source)
        throw Error(ErrorCode::stale_plan, shard + " is on node '" + owner + "', not on '" +
                                               move.source + "': run `ringshard plan` again")
            .with_shard(move.shard);
      MoveRecord stored = move;
      stored.plan_id = std::string(plan_id);
      stored.keyspace = std::string(keyspace);
      stored.stage = MoveStage::planned;
      stored.wish = MoveWish::none;
      stored.created_ms = stored.updated_ms = now;
      stored.lease_holder.clear();
      stored.lease_until_ms = 0;
      insert_move(session, stored);
    }
    implementation_->note(
        keyspace, "", "plan",
        "plan " + std::string(plan_id) + " started: " + std::to_string(moves.size()) + " moves",
        implementation_->raise_version(keyspace));
  });
}

std::optional<MoveRecord> Catalog::move(std::string_view move_id) {
  std::optional<MoveRecord> move;
  implementation_->read([&](Session& session) {
    const auto row = session.first_row(
        "SELECT " + move_columns + " FROM ringshard_move WHERE id = $1", {move_id});
    move = row ? std::optional(to_move(*row)) : std::nullopt;
  });
  return move;
}

std::vector<MoveRecord> Catalog::moves(std::string_view keyspace, bool unfinished) {
  std::vector<MoveRecord> moves;
  implementation_->read([&](Session& session) {
    moves.clear();
    for (const Row& row :
         session.rows("SELECT " + move_columns + " FROM ringshard_move WHERE keyspace = $1" +
                          (unfinished ? " AND is_final = 0" : "") + " ORDER BY position",
                      {keyspace}))
      moves.push_back(to_move(row));
  });
  return moves;
}

std::optional<MoveRecord> Catalog::unfinished_move_of(std::string_view keyspace, ShardId shard) {
  std::optional<MoveRecord> move;
  implementation_->read(
      [&](Session& session) { move = find_unfinished(session, keyspace, shard); });
  return move;
}

void Catalog::correct_placement(std::string_view keyspace, ShardId shard, std::string_view node) {
  implementation_->write([&](Session& session) {
    const std::string name = "shard " + std::to_string(shard.value);
    if (const auto move = find_unfinished(session, keyspace, shard))
      throw Error(ErrorCode::refused, name + " is in move " + move->id +
                                          ", which sets its placement: finish that one first")
          .with_shard(shard);
    const std::string before = implementation_->node_of(keyspace, shard);
    if (before == node) return;
    implementation_->place(keyspace, shard, node);
    implementation_->note(
        keyspace, "", "placement",
        name + " is on " + std::string(node) + ", where its owner was found, not on " + before,
        implementation_->raise_version(keyspace));
  });
}

void Catalog::store_stage(const MoveRecord& move, MoveStage expected, std::string_view lease_holder,
                          const std::optional<std::string>& placement) {
  if (!can_follow(expected, move.stage))
    throw Error(ErrorCode::internal, "move " + move.id + ": stage " +
                                         std::string(to_string(move.stage)) + " can not follow " +
                                         std::string(to_string(expected)));
  implementation_->write([&](Session& session) {
    const MoveRecord stored = implementation_->load_move(move.id);
    const std::int64_t now = implementation_->clock.unix_ms();
    require_lease(stored, lease_holder, now);
    if (stored.stage != expected)
      throw Error(ErrorCode::lease_lost, "move " + move.id + " is in stage " +
                                             std::string(to_string(stored.stage)) + ", not in " +
                                             std::string(to_string(expected)) +
                                             ": somebody else went on with it");
    update_move(session, move, now);
    std::string text =
        std::string(to_string(expected)) + " -> " + std::string(to_string(move.stage));
    std::uint64_t version = implementation_->version_of(stored.keyspace);
    if (placement) {
      implementation_->place(stored.keyspace, stored.shard, *placement);
      version = implementation_->raise_version(stored.keyspace);
      text += ", shard " + std::to_string(stored.shard.value) + " is on " + *placement;
    }
    implementation_->note(stored.keyspace, move.id, "stage", text, version);
  });
}

void Catalog::store_progress(const MoveRecord& move, std::string_view lease_holder) {
  implementation_->write([&](Session& session) {
    const MoveRecord stored = implementation_->load_move(move.id);
    const std::int64_t now = implementation_->clock.unix_ms();
    require_lease(stored, lease_holder, now);
    MoveRecord progressed = move;
    progressed.stage = stored.stage;
    update_move(session, progressed, now);
  });
}

void Catalog::wish(std::string_view move_id, MoveWish wish) {
  implementation_->write([&](Session& session) {
    const MoveRecord stored = implementation_->load_move(move_id);
    if (!can_be_wished(wish, stored.stage))
      throw Error(ErrorCode::refused,
                  "move " + stored.id + " is in stage " + std::string(to_string(stored.stage)) +
                      " (" + std::string(invariant(stored.stage)) + ") and can not be " +
                      std::string(participle(wish)) + "; " + way_out(stored.stage))
          .with_shard(stored.shard);
    if (stored.wish == wish) return;
    session.execute("UPDATE ringshard_move SET wish = $2, updated_ms = $3 WHERE id = $1",
                    {move_id, to_string(wish), implementation_->clock.unix_ms()});
    implementation_->note(stored.keyspace, move_id, "wish",
                          "to be " + std::string(participle(wish)),
                          implementation_->version_of(stored.keyspace));
  });
}

MoveWish Catalog::wish_of(std::string_view move_id) {
  MoveWish wish = MoveWish::none;
  implementation_->read([&](Session&) { wish = implementation_->load_move(move_id).wish; });
  return wish;
}

bool Catalog::take_lease(std::string_view move_id, std::string_view holder, Duration duration) {
  if (holder.empty()) throw Error(ErrorCode::invalid_argument, "a lease needs a holder's name");
  bool taken = false;
  implementation_->write_beside([&](Session& session) {
    static_cast<void>(implementation_->load_move(move_id));
    const std::int64_t now = implementation_->clock.unix_ms();
    taken =
        session.execute(
            "UPDATE ringshard_move SET lease_holder = $2, lease_until_ms = $3 WHERE id = $1 AND "
            "(lease_holder = '' OR lease_holder = $2 OR lease_until_ms <= $4)",
            {move_id, holder, now + duration.count(), now}) == 1;
  });
  return taken;
}

std::optional<std::string> Catalog::lease_next(const std::vector<std::string>& move_ids,
                                               std::string_view holder, Duration duration) {
  if (holder.empty()) throw Error(ErrorCode::invalid_argument, "a lease needs a holder's name");
  std::optional<std::string> leased;
  implementation_->write_beside([&](Session& session) {
    leased.reset();
    const std::int64_t now = implementation_->clock.unix_ms();
    std::vector<ValueView> parameters{now};
    for (const std::string& id : move_ids) parameters.emplace_back(std::string_view(id));
    if (move_ids.empty()) return;
    session.for_each(
        "SELECT id FROM ringshard_move WHERE is_final = 0 AND (lease_holder = '' OR "
        "lease_until_ms <= $1) AND id IN (" +
            placeholders(move_ids.size(), 2) + ") ORDER BY position LIMIT 1" +
            std::string(session.skip_locked()),
        parameters, [&leased](RowView row) {
          leased = std::string(std::get<std::string_view>(row[0]));
          return false;
        });
    if (!leased) return;
    session.execute(
        "UPDATE ringshard_move SET lease_holder = $2, lease_until_ms = $3 WHERE id = $1",
        {std::string_view(*leased), holder, now + duration.count()});
  });
  return leased;
}

void Catalog::release_lease(std::string_view move_id, std::string_view holder) noexcept {
  try {
    implementation_->write_beside([&](Session& session) {
      session.execute(
          "UPDATE ringshard_move SET lease_holder = '', lease_until_ms = 0 "
          "WHERE id = $1 AND lease_holder = $2",
          {move_id, holder});
    });
  } catch (const std::exception&) {
    // It runs out by itself.
  }
}

}  // namespace ringshard
