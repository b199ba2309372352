#pragma once

#include <optional>
#include <ringshard/ids.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace ringshard {

/// What kind of failure an Error is. Decide on this, never on the text.
enum class ErrorCode {
  invalid_argument,  ///< the caller's value is wrong; nothing was done
  config,            ///< the configuration is wrong; the text lists every mistake with its line
  not_found,         ///< the named thing (file, keyspace, node, move, home) does not exist
  already_exists,    ///< the named thing exists and would have been overwritten
  refused,         ///< the state of the world forbids it; the text says which state and the way out
  stale_plan,      ///< the catalog changed since the plan was made
  not_owner,       ///< the home reached does not own its shard, and no owner was found in time
  unavailable,     ///< the database can not be reached or does not answer
  timeout,         ///< a deadline passed; what was begun has been rolled back
  pool_exhausted,  ///< no connection became free in time
  conflict,        ///< a lock or a serialization failure; the transaction was rolled back
  outcome_unknown,  ///< the connection was lost during COMMIT: it may have happened or not
  constraint,       ///< a constraint of the application's tables refused the row
  sql,              ///< the database refused the statement
  read_only,        ///< the storage can not be written (read-only, permission)
  storage_full,     ///< no space is left on the storage
  schema,           ///< tables differ from what was expected, or can not be moved
  differs,          ///< two copies that must be equal are not
  lease_lost,       ///< another migrator runs this move now
  corrupt,          ///< stored data can not be read as what it must be
  cancelled,        ///< stopped on request
  internal          ///< a broken promise inside ringshard itself
};

/// The name of a code as it is printed in logs and JSON ("invalid_argument", …).
std::string_view to_string(ErrorCode code) noexcept;

/// The one exception type that ringshard throws. Immutable; may be read from any thread.
///
///     try { cluster.transact(key, work); }
///     catch (const ringshard::Error& error) {
///       if (error.outcome_unknown()) …   // look before you try again
///       else if (error.retryable()) …    // nothing happened; later it may work
///     }
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

  /// True if nothing was changed and the same call may succeed later without a change to it.
  bool retryable() const noexcept;

  /// True if the transaction may have been committed or not. The library never retries it.
  bool outcome_unknown() const noexcept { return code_ == ErrorCode::outcome_unknown; }

  /// The shard that the failed work was for, where there was one.
  std::optional<ShardId> shard() const noexcept { return shard_; }

  /// The database's own code: an SQLSTATE, or SQLite's extended result code as digits. Empty if
  /// none.
  const std::string& sqlstate() const noexcept { return sqlstate_; }

  Error& with_shard(ShardId shard) {
    shard_ = shard;
    return *this;
  }
  Error& with_sqlstate(std::string sqlstate) {
    sqlstate_ = std::move(sqlstate);
    return *this;
  }

 private:
  ErrorCode code_;
  std::optional<ShardId> shard_;
  std::string sqlstate_;
};

}  // namespace ringshard
