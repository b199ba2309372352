#include "mover/verifier.hpp"

#include <algorithm>
#include <unordered_map>

#include "backend/portable/portable.hpp"
#include "mover/retry.hpp"
#include "support/fault.hpp"

namespace ringshard {
namespace {

/// How often a row that is being changed is looked at again before it is left to the comparison
/// under the cutover's lock, which sees every row that changed.
constexpr int looks_max = 5;

/// Keys of the rows that are not the same in both batches.
std::vector<Row> keys_that_differ(const Table& table, const RowBatch& left, const RowBatch& right,
                                  RowForm form) {
  const auto content_of = [&](RowView row) {
    if (form == RowForm::native) return encode_row(row);
    std::string text;
    portable::append_row(text, table.kinds, row);
    return text;
  };
  std::unordered_map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < left.size(); ++i) rows.emplace(content_of(left[i]), i);
  std::vector<Row> keys;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (rows.erase(content_of(right[i])) == 0) keys.push_back(primary_key_of(table, right[i]));
  }
  for (const auto& [content, index] : rows) keys.push_back(primary_key_of(table, left[index]));
  // A changed row is in both batches: look at its key once.
  std::sort(keys.begin(), keys.end(),
            [](const Row& a, const Row& b) { return encode_row(a) < encode_row(b); });
  keys.erase(std::unique(keys.begin(), keys.end(),
                         [](const Row& a, const Row& b) { return encode_row(a) == encode_row(b); }),
             keys.end());
  return keys;
}

}  // namespace

std::string_view to_string(Difference::Kind kind) noexcept {
  switch (kind) {
    case Difference::Kind::missing:
      return "missing";
    case Difference::Kind::extra:
      return "extra";
    case Difference::Kind::changed:
      return "changed";
  }
  return "unknown";
}

std::string describe(const Difference& difference) {
  std::string text = "table " + difference.table + ", key " + describe(difference.key) + ": ";
  switch (difference.kind) {
    case Difference::Kind::missing:
      return text + "missing at the mirror";
    case Difference::Kind::extra:
      return text + "only at the mirror";
    case Difference::Kind::changed:
      break;
  }
  text += "differs in ";
  for (std::size_t i = 0; i < difference.columns.size(); ++i)
    text += (i == 0 ? "" : ", ") + difference.columns[i];
  return text;
}

VerifyReport& VerifyReport::operator+=(const VerifyReport& other) {
  tables += other.tables;
  empty_tables += other.empty_tables;
  rows += other.rows;
  chunks += other.chunks;
  differences += other.differences;
  repaired += other.repaired;
  for (const Difference& difference : other.samples)
    if (samples.size() < Verifier::samples_max) samples.push_back(difference);
  return *this;
}

std::optional<Difference> difference_of(const Table& table, const Row& key,
                                        const std::optional<Row>& owner,
                                        const std::optional<Row>& mirror, RowForm form) {
  if (!owner && !mirror) return std::nullopt;
  Difference difference{table.name, key, Difference::Kind::changed, {}};
  if (!owner || !mirror) {
    difference.kind = owner ? Difference::Kind::missing : Difference::Kind::extra;
    return difference;
  }
  const auto equal = [&](std::size_t i) {
    return form == RowForm::native
               ? identical((*owner)[i], (*mirror)[i])
               : portable::same(table.kinds[i], view((*owner)[i]), view((*mirror)[i]));
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (!equal(i)) difference.columns.push_back(table.columns[i]);
  if (difference.columns.empty()) return std::nullopt;
  return difference;
}

std::int64_t quiet_head(HomePair& pair, const MoveOptions& options) {
  return retry_conflicts(pair.clock(), Deadline::after(pair.clock(), options.lock_wait), [&] {
    OwnerTransaction tx(pair, TxMode::exclusive,
                        Deadline::after(pair.clock(), options.cutover.lock_timeout));
    return tx.store().log_head();
  });
}

VerifyReport Verifier::compare_tables(const std::vector<Table>& tables,
                                      const std::function<void(const VerifyReport&)>& progress) {
  VerifyReport total;
  for (const Table& table : tables) {
    const std::int64_t rows_before = total.rows;
    std::optional<Row> after;
    bool last = false;
    while (!last) {
      KeyRange range{after, std::nullopt};
      {
        OwnerTransaction tx(pair_, TxMode::read, Deadline());
        range.through = tx.store().chunk_end(table, range, options_.chunk_rows);
      }
      // The last chunk has no upper bound, so that rows beyond the owner's last one are seen.
      last = !range.through.has_value();
      total += compare_chunk(table, range, options_.chunk_rows);
      after = range.through;
      fault::hit(FaultPoint::verify_chunk_compared);
      progress(total);
      tailer_.step();
      between_();
    }
    ++total.tables;
    if (total.rows == rows_before) ++total.empty_tables;
  }
  return total;
}

VerifyReport Verifier::narrow(const Table& table, const KeyRange& range, std::size_t rows) {
  VerifyReport total;
  KeyRange part{range.after, std::nullopt};
  for (bool last = false; !last; part.after = part.through) {
    {
      OwnerTransaction tx(pair_, TxMode::read, Deadline());
      part.through = tx.store().chunk_end(table, {part.after, range.through}, rows);
    }
    last = !part.through.has_value();
    if (last) part.through = range.through;
    total += compare_chunk(table, part, rows);
  }
  return total;
}

VerifyReport Verifier::compare_chunk(const Table& table, const KeyRange& range, std::size_t rows) {
  // Rows can be large: as few as possible are held in memory on both sides.
  constexpr std::size_t rows_at_once = 64;
  VerifyReport report;
  report.chunks = 1;
  Digest mirror;
  {
    MirrorTransaction tx(pair_, TxMode::read, Deadline());
    mirror = tx.store().dialect().digest(tx.store().session(), table, range, pair_.form());
  }
  Digest owner;
  {
    OwnerTransaction tx(pair_, TxMode::read, Deadline());
    owner = tx.store().dialect().digest(tx.store().session(), table, range, pair_.form());
  }
  report.rows = owner.rows;
  if (owner == mirror) return report;
  if (rows > rows_at_once) return narrow(table, range, std::max(rows / 8, rows_at_once));

  {
    MirrorTransaction tx(pair_, TxMode::read, Deadline());
    tx.store().read_range(table, range, mirror_rows_);
  }
  {
    OwnerTransaction tx(pair_, TxMode::read, Deadline());
    tx.store().read_range(table, range, owner_rows_);
  }
  compare_rows(table, keys_that_differ(table, owner_rows_, mirror_rows_, pair_.form()), report);
  return report;
}

void Verifier::compare_rows(const Table& table, const std::vector<Row>& keys,
                            VerifyReport& report) {
  std::vector<Row> open = keys;
  for (int look = 0; look < looks_max && !open.empty(); ++look) {
    // What the owner committed before this moment is at the mirror when this returns.
    tailer_.catch_up(tailer_.head(), between_);
    std::vector<Row> under_way;
    for (const Row& key : open) {
      std::optional<Difference> difference;
      switch (compare_row(table, key, difference)) {
        case Settled::equal:
          break;
        case Settled::under_way:
          under_way.push_back(key);
          break;
        case Settled::different:
          ++report.differences;
          if (options_.repair) {
            repair(table, key);
            ++report.repaired;
          }
          if (report.samples.size() < samples_max) report.samples.push_back(std::move(*difference));
          break;
      }
    }
    open = std::move(under_way);
  }
  // Rows that are still under way after that have entries in the change log, newer than the head
  // that this comparison began with: the comparison of changed rows before the cutover covers them.
}

Verifier::Settled Verifier::compare_row(const Table& table, const Row& key,
                                        std::optional<Difference>& difference) {
  const auto fetch_mirror = [&] {
    MirrorTransaction tx(pair_, TxMode::read, Deadline());
    return tx.store().fetch(table, key);
  };
  const std::optional<Row> mirror = fetch_mirror();
  bool change_under_way = false;
  {
    OwnerTransaction tx(pair_, TxMode::read, Deadline());
    difference = difference_of(table, key, tx.store().fetch(table, key), mirror, pair_.form());
    if (!difference) return Settled::equal;
    change_under_way = tx.store().log_has(table, key);
  }
  // After the first leg routers delete entries that they have mirrored, so a change can have come
  // and gone between the two reads; then the mirror has moved on.
  if (!change_under_way)
    change_under_way = difference_of(table, key, mirror, fetch_mirror(), pair_.form()).has_value();
  return change_under_way ? Settled::under_way : Settled::different;
}

void Verifier::repair(const Table& table, const Row& key) {
  // As a change with the newest seq of the owner's snapshot: a mirror write that is newer than this
  // snapshot stays, one that is older comes too late.
  RowChange change;
  {
    OwnerTransaction tx(pair_, TxMode::read, Deadline());
    change = {{tx.store().log_head(), pair_.leg().number, table.name, key},
              tx.store().fetch(table, key)};
  }
  MirrorTransaction tx(pair_, TxMode::write, Deadline::after(pair_.clock(), options_.lock_wait));
  tx.store().apply(std::span(&change, 1), UniqueConflict::evict);
  tx.commit();
}

std::int64_t Verifier::count_changed(const std::vector<Table>& tables, std::int64_t seq,
                                     std::int64_t limit) {
  std::int64_t count = 0;
  MirrorTransaction tx(pair_, TxMode::read, Deadline());
  for (const Table& table : tables) {
    if (count >= limit) break;
    count += static_cast<std::int64_t>(
        tx.store().applied_after(table, pair_.leg().number, seq, limit - count).size());
  }
  return count;
}

VerifyReport Verifier::compare_changed(const std::vector<Table>& tables, std::int64_t after,
                                       std::int64_t through) {
  constexpr std::int64_t page = 1000;
  VerifyReport total;
  for (const Table& table : tables) {
    for (std::int64_t position = after; position < through;) {
      std::vector<Change> changed;
      {
        MirrorTransaction tx(pair_, TxMode::read, Deadline());
        changed = tx.store().applied_after(table, pair_.leg().number, position, page);
      }
      std::vector<Row> keys;
      for (Change& change : changed)
        if (change.seq <= through) keys.push_back(std::move(change.key));
      if (keys.empty()) break;
      position = changed[keys.size() - 1].seq;
      VerifyReport part;
      part.rows = static_cast<std::int64_t>(keys.size());
      compare_rows(table, keys, part);
      total += part;
    }
  }
  return total;
}

}  // namespace ringshard
