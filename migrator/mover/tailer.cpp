#include "mover/tailer.hpp"

#include <algorithm>
#include <ringshard/error.hpp>

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

void refuse_null_key(const Change& change) {
  const bool has_null = std::any_of(change.key.begin(), change.key.end(), [](const Value& value) {
    return std::holds_alternative<Null>(value);
  });
  if (has_null)
    throw Error(ErrorCode::schema,
                "table " + change.table + " got a row with NULL in its primary key " +
                    describe(change.key) +
                    " during its move: delete or correct it, then resume or abort");
}

}  // namespace

std::vector<RowChange> read_rows(HomeStore& owner, std::vector<Change>& changes,
                                 std::size_t bytes_max) {
  // Rows can be of any size, so they are looked up in small groups until enough is at hand.
  constexpr std::size_t group_size = 64;
  std::vector<RowChange> rows;
  std::size_t bytes = 0;
  std::size_t taken = 0;
  while (taken < changes.size() && (taken == 0 || bytes < bytes_max)) {
    const std::size_t end = std::min(changes.size(), taken + (bytes == 0 ? 1 : group_size));
    const std::vector<Change> group(changes.begin() + static_cast<std::ptrdiff_t>(taken),
                                    changes.begin() + static_cast<std::ptrdiff_t>(end));
    for (const Change& change : group) refuse_null_key(change);
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

std::int64_t Tailer::step() {
  const auto lock_deadline = [&] { return Deadline::after(pair_.clock(), options_.lock_wait); };
  std::vector<Change> changes;
  std::vector<RowChange> rows;
  {
    OwnerTransaction tx(pair_, TxMode::read, lock_deadline());
    changes = tx.store().log_after(0, options_.tail_rows);
    rows = read_rows(tx.store(), changes, options_.chunk_bytes);
  }
  if (changes.empty()) return 0;
  fault::hit(FaultPoint::tail_read);
  {
    // Evict: a further unique key may have passed from a row whose own change comes later in the
    // log.
    MirrorTransaction tx(pair_, TxMode::write, lock_deadline());
    tx.store().apply(rows, UniqueConflict::evict);
    tx.commit();
  }
  fault::hit(FaultPoint::tail_applied);

  std::vector<std::int64_t> seqs;
  seqs.reserve(changes.size());
  for (const Change& change : changes) seqs.push_back(change.seq);
  {
    OwnerTransaction tx(pair_, TxMode::write, lock_deadline());
    tx.store().log_erase(seqs);
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
