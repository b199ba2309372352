#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/sqlite/errors.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace ringshard::sqlite {

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const noexcept;
};
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// A prepared statement and what is worth knowing about it.
class Statement {
 public:
  /// Prepares the one statement that `sql` holds. Throws Error{invalid_argument} if there is none
  /// or more than one.
  Statement(sqlite3* database, std::string_view sql, const Place& place);

  sqlite3_stmt* handle() const noexcept { return handle_.get(); }
  std::string_view sql() const noexcept { return sql_; }
  bool only_reads() const noexcept { return only_reads_; }
  bool ends_or_begins_transaction() const noexcept { return transaction_control_; }
  /// It writes, and speaks of the home's record.
  bool may_change_record() const noexcept { return may_change_record_; }

  /// Binds $1, $2, …; texts and blobs are not copied. Throws Error{invalid_argument} unless the
  /// statement has exactly those.
  void bind(std::span<const ValueView> parameters);

  /// The row that the last step found; valid until the next step.
  RowView row();
  std::span<const std::string_view> column_names();

  void reset() noexcept;

  bool in_use = false;

 private:
  void map_parameters();

  std::string sql_;
  StatementHandle handle_;
  bool only_reads_ = false;
  bool transaction_control_ = false;
  bool may_change_record_ = false;
  bool bound_ = false;
  std::vector<int> positions_;  // SQLite's index of $1, $2, …; 0: the statement does not have it
  std::vector<ValueView> row_;
  std::vector<std::string_view> names_;
};

/// The statements of one connection, least recently used ones finalized first.
class StatementCache {
 public:
  /// A statement for the length of a scope; reset at its end.
  class Lease {
   public:
    explicit Lease(Statement& statement) : statement_(&statement) { statement_->in_use = true; }
    explicit Lease(std::unique_ptr<Statement> own) : own_(std::move(own)), statement_(own_.get()) {}
    Lease(Lease&& other) noexcept
        : own_(std::move(other.own_)), statement_(std::exchange(other.statement_, nullptr)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (statement_ == nullptr) return;
      statement_->reset();
      statement_->in_use = false;
    }
    Statement* operator->() const noexcept { return statement_; }
    Statement& operator*() const noexcept { return *statement_; }

   private:
    std::unique_ptr<Statement> own_;
    Statement* statement_;
  };

  StatementCache(sqlite3* database, const Place& place, std::size_t size_max)
      : database_(database), place_(place), size_max_(size_max) {}

  /// A statement that is in use further up the stack gets a second copy, which is not kept.
  Lease get(std::string_view sql);

 private:
  sqlite3* database_;
  const Place& place_;
  const std::size_t size_max_;
  std::list<Statement> statements_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Statement>::iterator> by_sql_;
};

/// The first statement of a script and what follows it: each has to be prepared after the one
/// before has run.
struct NextStatement {
  StatementHandle handle;  ///< empty: nothing is left but space and comments
  std::string_view text;
  std::string_view rest;
};
NextStatement prepare_next(sqlite3* database, std::string_view script, const Place& place);

/// A column of the row that the last step found; valid until the next step.
ValueView column_value(sqlite3_stmt* statement, int column);

/// BEGIN, COMMIT, END, ROLLBACK (not ROLLBACK TO), ATTACH or DETACH.
bool controls_transaction(std::string_view sql) noexcept;

}  // namespace ringshard::sqlite
