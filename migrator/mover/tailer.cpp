#include "mover/tailer.hpp"

#include <algorithm>
#include <optional>
#include <ringshard/error.hpp>
#include <string>
#include <variant>

#include "mover/retry.hpp"
#include "support/fault.hpp"

namespace ringshard {
namespace {

std::size_t bytes_of(const Row& row) {
  std::size_t bytes = 0;
  for (const Value& value : row) {
    bytes += sizeof(Value);
    if (const auto* text = std::get_if<std::string>(&value)) bytes += text->size();
    if (const auto* blob = std::get_if<Blob>(&value)) bytes += blob->bytes.size();
  }
  return bytes;
}

/// A row whose key holds NULL can not be followed. Once it is deleted or corrected its changes mean
/// nothing: the mirror never got it.
void refuse_null_keys(HomeStore& owner, const Change& change) {
  const Table* table = owner.dialect().schema(owner.session())->find(change.table);
  if (table == nullptr) return;  // said by who looks up its rows
  std::string is_null;
  for (const std::string& column : table->key)
    is_null += (is_null.empty() ? "" : " OR ") + quoted(column) + " IS NULL";
  if (owner.session().integer("SELECT 1 FROM " + quoted(table->name) + " WHERE " + is_null +
                              " LIMIT 1") == 1)
    throw null_key_error(table->name, change.key);
}

/// How far the log has been deleted is kept in the owner's home, in the table of checkpoints.
constexpr std::string_view erased_mark = "ringshard_change_log";
/// An entry that is new but has a number that was given out before would be taken for an old one.
void refuse_repeated_numbers(HomeStore& owner, const Change& oldest) {
  // Where several write at the same time, a smaller number may be committed after a greater one.
  if (owner.dialect().quirks().concurrent_writers) return;
  const std::optional<Row> erased = owner.checkpoint(erased_mark).last_key;
  if (!erased || oldest.seq > std::get<std::int64_t>(erased->front())) return;
  throw Error(ErrorCode::schema,
              "the numbers of the change log began anew during the move, after " +
                  describe(*erased) +
                  ": something set its counter back; `ringshard abort` gives the move "
                  "up");
}

}  // namespace

bool has_null(const Row& key) noexcept {
  return std::any_of(key.begin(), key.end(),
                     [](const Value& value) { return std::holds_alternative<Null>(value); });
}

Error null_key_error(const std::string& table, const Row& key) {
  return Error(ErrorCode::schema,
               "table " + table + " got a row with NULL in its primary key " + describe(key) +
                   " during its move: delete or correct it, then resume or abort");
}

std::vector<RowChange> read_rows(HomeStore& owner, std::vector<Change>& changes,
                                 std::size_t bytes_max) {
  // Rows can be of any size, so they are looked up in small groups until enough is at hand.
  constexpr std::size_t group_size = 64;
  std::vector<RowChange> rows;
  std::size_t bytes = 0;
  std::size_t taken = 0;
  if (!changes.empty()) refuse_repeated_numbers(owner, changes.front());
  while (taken < changes.size() && (taken == 0 || bytes < bytes_max)) {
    const std::size_t end = std::min(changes.size(), taken + (bytes == 0 ? 1 : group_size));
    std::vector<Change> group(changes.begin() + static_cast<std::ptrdiff_t>(taken),
                              changes.begin() + static_cast<std::ptrdiff_t>(end));
    const auto keyless = std::find_if(group.begin(), group.end(),
                                      [](const Change& change) { return has_null(change.key); });
    if (keyless != group.end()) {
      for (const Change& change : group)
        if (has_null(change.key)) refuse_null_keys(owner, change);
      std::erase_if(group, [](const Change& change) { return has_null(change.key); });
    }
    for (RowChange& change : owner.rows_of(group)) {
      if (change.row) bytes += bytes_of(*change.row);
      bytes += sizeof(RowChange);
      rows.push_back(std::move(change));
    }
    taken = end;
  }
  changes.resize(taken);
  return rows;
}

std::vector<Change> Tailer::apply_oldest(std::int64_t rows_max, std::size_t bytes_max) {
  const auto lock_deadline = [&] { return Deadline::after(pair_.clock(), options_.lock_wait); };
  std::vector<Change> changes;
  std::vector<RowChange> rows;
  {
    OwnerTransaction tx(pair_, TxMode::read, lock_deadline());
    changes = tx.store().log_after(0, rows_max);
    rows = read_rows(tx.store(), changes, bytes_max);
  }
  if (changes.empty()) return changes;
  fault::hit(FaultPoint::tail_read);
  // Evict: a further unique key may have passed from a row whose own change comes later in the log.
  MirrorTransaction tx(pair_, TxMode::write, lock_deadline());
  require_portable_keys(pair_, tx.store(), rows);
  tx.store().apply(rows, UniqueConflict::evict);
  tx.commit();
  return changes;
}

std::int64_t Tailer::step() {
  const auto lock_deadline = [&] { return Deadline::after(pair_.clock(), options_.lock_wait); };
  std::vector<Change> changes;
  for (std::int64_t factor = 1;; factor *= 2) {
    const std::int64_t rows_max = options_.tail_rows * factor;
    try {
      changes = apply_oldest(rows_max, options_.chunk_bytes * static_cast<std::size_t>(factor));
      break;
    } catch (const Error& error) {
      // A mirror whose foreign keys are in place may need a parent that comes later in the log. All
      // of the log together is what the owner has.
      if (error.code() != ErrorCode::constraint || backlog() < rows_max) throw;
    }
  }
  if (changes.empty()) return 0;
  fault::hit(FaultPoint::tail_applied);

  std::vector<std::int64_t> seqs;
  seqs.reserve(changes.size());
  for (const Change& change : changes) seqs.push_back(change.seq);
  {
    OwnerTransaction tx(pair_, TxMode::write, lock_deadline());
    tx.store().log_erase(seqs);
    tx.store().store_checkpoint(erased_mark, {Row{seqs.back()}, false});
    tx.commit();
  }
  fault::hit(FaultPoint::tail_erased);
  applied_total_ += static_cast<std::int64_t>(changes.size());
  return static_cast<std::int64_t>(changes.size());
}

std::int64_t Tailer::head() {
  OwnerTransaction tx(pair_, TxMode::read, Deadline());
  return tx.store().log_head();
}

std::int64_t Tailer::backlog() {
  OwnerTransaction tx(pair_, TxMode::read, Deadline());
  return tx.store().log_rows();
}

bool Tailer::lags_behind(std::int64_t seq) {
  OwnerTransaction tx(pair_, TxMode::read, Deadline());
  const std::vector<Change> oldest = tx.store().log_after(0, 1);
  return !oldest.empty() && oldest.front().seq <= seq;
}

}  // namespace ringshard
