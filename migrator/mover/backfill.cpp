#include "mover/backfill.hpp"

#include <ringshard/error.hpp>
#include <variant>

#include "backend/portable/portable.hpp"
#include "mover/tailer.hpp"
#include "support/fault.hpp"

namespace ringshard {
namespace {

/// A copy of such a row could never be found again at the mirror.
void refuse_null_keys(const Table& table, const RowBatch& batch) {
  for (std::size_t i = 0; i < batch.size(); ++i)
    for (const std::size_t position : table.key_positions)
      if (std::holds_alternative<Null>(batch[i][position]))
        throw null_key_error(table.name, primary_key_of(table, batch[i]));
}

bool same_position(const Checkpoint& left, const Checkpoint& right) {
  if (left.complete != right.complete || left.last_key.has_value() != right.last_key.has_value())
    return false;
  return !left.last_key || encode_row(*left.last_key) == encode_row(*right.last_key);
}

/// How the commits of a session are made while this lives.
class Durability {
 public:
  Durability(Session& session, bool durable) : session_(session) { session_.set_durable(durable); }
  Durability(const Durability&) = delete;
  Durability& operator=(const Durability&) = delete;
  ~Durability() { session_.set_durable(true); }

 private:
  Session& session_;
};

}  // namespace

BackfillStep Backfill::copy_chunk(const Table& table) {
  const Deadline lock_deadline = Deadline::after(pair_.clock(), options_.lock_wait);
  Checkpoint from;
  {
    MirrorTransaction tx(pair_, TxMode::read, lock_deadline);
    from = tx.store().checkpoint(table.name);
  }
  if (from.complete) return {0, true};

  Checkpoint to = from;
  {
    OwnerTransaction tx(pair_, TxMode::read, lock_deadline);
    to.complete = tx.store().read_chunk(table, from.last_key, options_.chunk_rows,
                                        options_.chunk_bytes, batch_);
  }
  refuse_null_keys(table, batch_);
  if (pair_.form() == RowForm::portable)
    for (std::size_t i = 0; i < batch_.size(); ++i)
      portable::require_portable_key(table, primary_key_of(table, batch_[i]));
  if (!batch_.empty()) to.last_key = primary_key_of(table, batch_[batch_.size() - 1]);
  fault::hit(FaultPoint::backfill_chunk_read);

  // Only a table's last chunk waits for the disk; it makes those before it durable too. After a
  // power cut a chunk that was lost is copied again, as its checkpoint was lost with it.
  const Durability durability(pair_.mirror().session(), to.complete);
  MirrorTransaction tx(pair_, TxMode::write, lock_deadline);
  if (!same_position(tx.store().checkpoint(table.name), from))
    throw Error(ErrorCode::lease_lost,
                "another migrator copies table " + table.name + " of " + pair_.home().str());
  try {
    tx.store().insert_missing(table, batch_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::sql && error.code() != ErrorCode::invalid_argument) throw;
    // The database says what it does not take, but not always where that stands.
    throw Error(error.code(), "a row of table " + table.name + " with a key from " +
                                  describe(primary_key_of(table, batch_[0])) + " to " +
                                  describe(*to.last_key) +
                                  " can not be stored at the target: " + error.what())
        .with_sqlstate(std::string(error.sqlstate()));
  }
  tx.store().store_checkpoint(table.name, to);
  tx.commit();
  fault::hit(FaultPoint::backfill_chunk_written);
  return {static_cast<std::int64_t>(batch_.size()), to.complete};
}

}  // namespace ringshard
