#include "backend/home_store.hpp"

#include <algorithm>
#include <limits>
#include <ringshard/error.hpp>
#include <unordered_map>
#include <utility>

#include "backend/home_row.hpp"
#include "backend/table_sql.hpp"

namespace ringshard {

namespace {

class ChunkSink final : public ResultSink {
 public:
  ChunkSink(RowBatch& out, std::size_t rows_max, std::size_t bytes_max)
      : out_(out), rows_max_(rows_max), bytes_max_(bytes_max) {}

  bool row(RowView row) override {
    const bool full = out_.size() >= rows_max_ || out_.bytes() >= bytes_max_;
    if (full && !out_.empty()) {
      more_ = true;
      return false;
    }
    out_.append(row);
    return true;
  }
  bool more() const noexcept { return more_; }

 private:
  RowBatch& out_;
  const std::size_t rows_max_;
  const std::size_t bytes_max_;
  bool more_ = false;
};

bool same_key(const Row& left, const Row& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), identical);
}

// A copy that does not get on would go on for ever.
void require_growing_keys(const Table& table, const std::optional<Row>& after,
                          const RowBatch& batch) {
  if (batch.empty() || table.key.empty()) return;
  const Row first = primary_key_of(table, batch[0]);
  const bool repeats =
      (after && same_key(*after, first)) ||
      (batch.size() > 1 && same_key(first, primary_key_of(table, batch[batch.size() - 1])));
  if (repeats)
    throw Error(ErrorCode::internal, "reading table " + table.name +
                                         " in the order of its primary key does not get past " +
                                         describe(first));
}

}  // namespace

// ---- the home's record
// -----------------------------------------------------------------------------

std::optional<HomeRecord> HomeStore::record() {
  static const std::string sql =
      "SELECT " + std::string(home_record_columns) + " FROM ringshard_home WHERE id = 1";
  std::optional<HomeRecord> found;
  session_.for_each(sql, {}, [&found](RowView row) {
    found = decode_home_record(row);
    return false;
  });
  return found;
}

void HomeStore::store_record(const HomeRecord& record) {
  static const std::string sql =
      std::string(home_record_insert()) +
      " ON CONFLICT (id) DO UPDATE SET format = excluded.format, keyspace = excluded.keyspace, "
      "shard = excluded.shard, role = excluded.role, leg = excluded.leg, peer = excluded.peer, "
      "move_id = excluded.move_id, mover = excluded.mover, certificate = excluded.certificate";
  session_.execute(sql, home_record_values(record));
}

bool HomeStore::promote(const HomeRecord& decided, const std::string& old_owner) {
  const bool promoted =
      session_.execute(
          "UPDATE ringshard_home SET role = 'owner', leg = $1, peer = $2 "
          "WHERE id = 1 AND role = 'mirror' AND move_id = $3 AND leg = $4 AND certificate = $5",
          {decided.leg, std::string_view(old_owner), std::string_view(decided.move_id),
           decided.leg - 1, std::string_view(decided.certificate)}) == 1;
  if (promoted) dialect_.become_owner(session_);
  return promoted;
}

// ---- tables and their statements
// -------------------------------------------------------------------

void HomeStore::refresh() {
  std::shared_ptr<const HomeSchema> now = dialect_.schema(session_);
  if (now == schema_) return;
  schema_ = std::move(now);
  sql_.clear();
}

const HomeStore::TableSql& HomeStore::sql_of(const Table& table) {
  const auto found = sql_.find(table.name);
  if (found != sql_.end() && found->second.described == table) return *found->second.sql;
  refresh();
  // The description may be that of the other home, in another kind of database, which says some
  // things in its own way.
  const Table* own = schema_->find(table.name);
  const bool same = own != nullptr && own->columns == table.columns && own->key == table.key;
  KnownSql& known = sql_[table.name];
  known = {table, std::make_shared<const TableSql>(same ? *own : table, dialect_.quirks())};
  return *known.sql;
}

const HomeStore::TableSql& HomeStore::sql_of(std::string_view table_name) {
  if (const auto found = sql_.find(table_name); found != sql_.end()) return *found->second.sql;
  const Table* table = schema_->find(table_name);
  if (table == nullptr)
    throw Error(ErrorCode::schema,
                "a change is noted for table " + std::string(table_name) +
                    ", which is not there any more: it was dropped or renamed during the move");
  return sql_of(*table);
}

std::span<const ValueView> HomeStore::parameters_of(const Row& values,
                                                    std::initializer_list<ValueView> more) {
  parameters_.clear();
  for (const Value& value : values) parameters_.push_back(view(value));
  parameters_.insert(parameters_.end(), more);
  return parameters_;
}

// ---- the change log
// --------------------------------------------------------------------------------

std::int64_t HomeStore::log_head() { return dialect_.log_head(session_); }

std::int64_t HomeStore::log_rows() {
  return session_.integer("SELECT count(*) FROM ringshard_change_log");
}

std::vector<Change> HomeStore::log_after(std::int64_t seq, std::int64_t limit) {
  refresh();
  return dialect_.log_after(session_, *schema_, seq, limit);
}

std::vector<Change> HomeStore::noted_since(std::int64_t mark, std::int64_t limit) {
  refresh();
  return dialect_.noted_since(session_, *schema_, mark, limit);
}

bool HomeStore::log_has(const Table& table, const Row& key) {
  return dialect_.log_has(session_, table, key);
}

void HomeStore::log_erase(std::span<const std::int64_t> seqs) {
  std::vector<std::int64_t> sorted(seqs.begin(), seqs.end());
  std::sort(sorted.begin(), sorted.end());
  // A run without gaps is one statement; a gap may be an entry that was not handed in.
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end] <= sorted[end - 1] + 1) ++end;
    session_.execute("DELETE FROM ringshard_change_log WHERE seq BETWEEN $1 AND $2",
                     {sorted[begin], sorted[end - 1]});
    begin = end;
  }
}

std::vector<RowChange> HomeStore::rows_of(const std::vector<Change>& changes) {
  refresh();
  std::unordered_map<std::string, const Change*> newest;
  for (const Change& change : changes) {
    std::string name = encode_row(change.key) + change.table;
    const Change*& known = newest[std::move(name)];
    if (known == nullptr || known->seq < change.seq) known = &change;
  }
  std::vector<const Change*> ordered;
  ordered.reserve(newest.size());
  for (const auto& [name, change] : newest) ordered.push_back(change);
  std::sort(ordered.begin(), ordered.end(),
            [](const Change* left, const Change* right) { return left->seq < right->seq; });

  std::vector<RowChange> rows;
  rows.reserve(ordered.size());
  for (const Change* change : ordered)
    rows.push_back({*change, fetch(sql_of(change->table), change->key)});
  return rows;
}

// ---- the mirror's side
// -----------------------------------------------------------------------------

std::int64_t HomeStore::apply(std::span<const RowChange> changes, UniqueConflict on_conflict) {
  refresh();
  std::int64_t applied = 0;
  for (const RowChange& change : changes) {
    const TableSql& sql = sql_of(change.change.table);
    if (!is_newest(sql, change.change)) continue;
    put(sql, change.change.key, change.row, on_conflict);
    ++applied;
  }
  return applied;
}

bool HomeStore::is_newest(const TableSql& sql, const Change& change) {
  return session_.execute(sql.note_applied, parameters_of(change.key, {change.leg, change.seq})) >
         0;
}

std::vector<Change> HomeStore::applied_after(const Table& table, std::int64_t leg, std::int64_t seq,
                                             std::int64_t limit) {
  std::vector<Change> changes;
  session_.for_each(sql_of(table).applied_after, {leg, seq, limit}, [&](RowView row) {
    changes.push_back({std::get<std::int64_t>(row[0]), std::get<std::int64_t>(row[1]), table.name,
                       to_row(row.subspan(2, table.key.size()))});
    return true;
  });
  return changes;
}

std::int64_t HomeStore::applied_head(const std::vector<Table>& tables) {
  std::int64_t head = 0;
  for (const Table& table : tables)
    head = std::max(
        head, session_.integer("SELECT max(seq) FROM " + quoted(applied_table_name(table.name))));
  return head;
}

// ---- rows
// ------------------------------------------------------------------------------------------

std::optional<Row> HomeStore::fetch(const Table& table, const Row& key) {
  return fetch(sql_of(table), key);
}

std::optional<Row> HomeStore::fetch(const TableSql& sql, const Row& key) {
  std::optional<Row> found;
  session_.for_each(sql.select_row, parameters_of(key), [&found](RowView row) {
    found = to_row(row);
    return false;
  });
  return found;
}

void HomeStore::read(const TableSql& sql, const KeyRange& range, std::int64_t rows_max,
                     ResultSink& sink) {
  parameters_.clear();
  add_bounds(range, parameters_);
  parameters_.emplace_back(rows_max);
  session_.scan(sql.read[TableSql::index_of(range)], parameters_, sink);
}

bool HomeStore::read_chunk(const Table& table, const std::optional<Row>& after,
                           std::size_t rows_max, std::size_t bytes_max, RowBatch& out) {
  constexpr std::size_t limit_max = std::numeric_limits<std::int32_t>::max();
  out.clear();
  rows_max = std::clamp(rows_max, std::size_t{1}, limit_max);
  ChunkSink sink(out, rows_max, bytes_max);
  // One row more than asked for tells whether the table goes on.
  read(sql_of(table), {after, std::nullopt}, static_cast<std::int64_t>(rows_max) + 1, sink);
  require_growing_keys(table, after, out);
  return !sink.more();
}

bool HomeStore::read_range(const Table& table, const KeyRange& range, RowBatch& out) {
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  out.clear();
  ChunkSink sink(out, no_limit, no_limit);
  read(sql_of(table), range, std::numeric_limits<std::int64_t>::max(), sink);
  return !out.empty();
}

std::optional<Row> HomeStore::chunk_end(const Table& table, const KeyRange& range,
                                        std::size_t rows) {
  parameters_.clear();
  add_bounds(range, parameters_);
  parameters_.emplace_back(static_cast<std::int64_t>(rows) - 1);
  std::optional<Row> key;
  session_.for_each(sql_of(table).key_after[TableSql::index_of(range)], parameters_,
                    [&key](RowView row) {
                      key = to_row(row);
                      return false;
                    });
  return key;
}

std::int64_t HomeStore::insert_missing(const Table& table, const RowBatch& rows) {
  if (const auto inserted = dialect_.insert_many(session_, table, rows)) return *inserted;
  const TableSql& sql = sql_of(table);
  std::int64_t inserted = 0;
  std::size_t next = 0;
  for (; rows.size() - next >= TableSql::rows_at_once; next += TableSql::rows_at_once)
    inserted += session_.execute(sql.insert_many, rows.range(next, TableSql::rows_at_once));
  for (; next < rows.size(); ++next) inserted += session_.execute(sql.insert_missing, rows[next]);
  return inserted;
}

void HomeStore::put(const Table& table, const Row& key, const std::optional<Row>& row,
                    UniqueConflict on_conflict) {
  put(sql_of(table), key, row, on_conflict);
}

void HomeStore::put(const TableSql& sql, const Row& key, const std::optional<Row>& row,
                    UniqueConflict on_conflict) {
  if (!row) {
    session_.execute(sql.erase, parameters_of(key));
  } else if (on_conflict == UniqueConflict::evict && !sql.table.unique_keys.empty()) {
    dialect_.put_evicting(session_, sql.table, parameters_of(*row));
  } else {
    session_.execute(sql.upsert, parameters_of(*row));
  }
}

std::int64_t HomeStore::count(const Table& table) { return session_.integer(sql_of(table).count); }

Checkpoint HomeStore::checkpoint(std::string_view name) {
  Checkpoint found;
  session_.for_each("SELECT last_key, complete FROM ringshard_checkpoint WHERE table_name = $1",
                    {name}, [&found](RowView row) {
                      if (const auto* key = std::get_if<BlobView>(&row[0]))
                        found.last_key = decode_row(key->bytes);
                      found.complete = std::get<std::int64_t>(row[1]) != 0;
                      return false;
                    });
  return found;
}

void HomeStore::store_checkpoint(std::string_view name, const Checkpoint& checkpoint) {
  std::string key;
  if (checkpoint.last_key) key = encode_row(*checkpoint.last_key);
  const ValueView last_key = checkpoint.last_key ? ValueView(BlobView{key}) : ValueView(Null{});
  session_.execute(
      "INSERT INTO ringshard_checkpoint (table_name, last_key, complete) VALUES ($1, $2, $3) "
      "ON CONFLICT (table_name) DO UPDATE SET last_key = excluded.last_key, "
      "complete = excluded.complete",
      {name, last_key, std::int64_t{checkpoint.complete ? 1 : 0}});
}

}  // namespace ringshard
