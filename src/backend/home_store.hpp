#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/row_batch.hpp"
#include "backend/session.hpp"
#include "core/home.hpp"
#include "core/schema.hpp"

namespace ringshard {

/// A change with the row as its owner committed it; no row: it is absent there.
struct RowChange {
  Change change;
  std::optional<Row> row;
};

/// What to do with another row of the target that holds the same value of a further unique key.
enum class UniqueConflict : std::uint8_t {
  fail,  ///< Error{constraint}
  evict  ///< delete that row: its own change is still in the change log and brings it back
};

/// How far a table has been copied. Stored in the target, in the chunk's own transaction.
struct Checkpoint {
  std::optional<Row> last_key;  ///< rows up to this key are here, or newer
  bool complete = false;
};

/// What is done to the rows and the bookkeeping of one home, written once for every database. Works
/// inside the session's open transaction. One thread at a time, like its session, which must
/// outlive it.
class HomeStore {
 public:
  HomeStore(Session& session, const Dialect& dialect) : session_(session), dialect_(dialect) {}

  Session& session() noexcept { return session_; }
  const Dialect& dialect() const noexcept { return dialect_; }

  // --- who this home is
  std::optional<HomeRecord> record();
  void store_record(const HomeRecord& record);

  /// The last step of a handover that the record `decided` of `old_owner` tells of: this mirror
  /// becomes the owner, with the old owner as its mirror. Does nothing and returns false unless the
  /// home is the mirror of the same move in the leg before, and the copy that was certified.
  bool promote(const HomeRecord& decided, const std::string& old_owner);

  // --- the change log of an owner that is being moved
  std::int64_t log_head();  ///< the greatest seq ever given out; 0 if none
  std::int64_t log_rows();
  std::vector<Change> log_after(std::int64_t seq, std::int64_t limit);
  bool log_has(const Table& table, const Row& key);

  /// What the open transaction notes between log_mark() and noted_since().
  std::int64_t log_mark() { return dialect_.log_mark(session_); }
  std::vector<Change> noted_since(std::int64_t mark, std::int64_t limit);
  void log_erase(std::span<const std::int64_t> seqs);

  /// Each key of `changes` once, in its newest change, with the row as this transaction sees it.
  std::vector<RowChange> rows_of(const std::vector<Change>& changes);

  // --- the mirror's side
  /// Applies changes, newer wins: one whose seq is older than what was applied to that key in this
  /// or a later leg is left out. Returns how many took effect. The caller has checked role, move
  /// and leg.
  std::int64_t apply(std::span<const RowChange> changes, UniqueConflict on_conflict);

  /// Keys of one table changed in `leg` by changes after `seq`, in chunks of at most `limit` by
  /// seq.
  std::vector<Change> applied_after(const Table& table, std::int64_t leg, std::int64_t seq,
                                    std::int64_t limit);

  /// The greatest seq of all changes that were applied to these tables; 0 if there is none.
  std::int64_t applied_head(const std::vector<Table>& tables);

  // --- rows
  std::optional<Row> fetch(const Table& table, const Row& key);

  /// Rows after `after` in primary-key order, until `rows_max` rows or `bytes_max` bytes are
  /// reached; at least one row if there is one. `out` is cleared first. Returns true if the table's
  /// end was reached. Throws Error{internal} if keys do not grow.
  bool read_chunk(const Table& table, const std::optional<Row>& after, std::size_t rows_max,
                  std::size_t bytes_max, RowBatch& out);

  /// All rows of a range, in primary-key order. Returns false if there is none.
  bool read_range(const Table& table, const KeyRange& range, RowBatch& out);

  /// The key of the `rows`-th row of a range, from 1 on; empty if there are not so many.
  std::optional<Row> chunk_end(const Table& table, const KeyRange& range, std::size_t rows);

  /// Inserts the rows whose keys, primary or further unique ones, are not there yet. Returns how
  /// many it inserted.
  std::int64_t insert_missing(const Table& table, const RowBatch& rows);

  /// Makes the row of `key` what is given, or absent.
  void put(const Table& table, const Row& key, const std::optional<Row>& row,
           UniqueConflict on_conflict);

  std::int64_t count(const Table& table);

  /// Of a table, or of something else that a move keeps with a home under a name of its own.
  Checkpoint checkpoint(std::string_view name);
  void store_checkpoint(std::string_view name, const Checkpoint& checkpoint);

 private:
  struct TableSql;  // the statements of one table, built once

  void refresh();
  const TableSql& sql_of(const Table& table);
  const TableSql& sql_of(std::string_view table_name);
  std::optional<Row> fetch(const TableSql& sql, const Row& key);
  void put(const TableSql& sql, const Row& key, const std::optional<Row>& row,
           UniqueConflict on_conflict);
  bool is_newest(const TableSql& sql, const Change& change);
  void read(const TableSql& sql, const KeyRange& range, std::int64_t rows_max, ResultSink& sink);
  std::span<const ValueView> parameters_of(const Row& values,
                                           std::initializer_list<ValueView> more = {});

  Session& session_;
  const Dialect& dialect_;
  std::shared_ptr<const HomeSchema> schema_;
  struct KnownSql {
    Table described;  // what it was made for
    std::shared_ptr<const TableSql> sql;
  };
  std::map<std::string, KnownSql, std::less<>> sql_;
  std::vector<ValueView> parameters_;  // of the statement being run: kept, so that its memory is
};

/// The name of the table that keeps the applied changes of `table`: of fixed length, whatever the
/// table is called.
std::string applied_table_name(std::string_view table);

/// The widest key that a change log can note.
inline constexpr std::size_t key_columns_max = 16;

}  // namespace ringshard
