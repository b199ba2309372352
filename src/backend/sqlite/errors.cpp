#include "backend/sqlite/errors.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "backend/sqlite/lock_holder.hpp"

namespace ringshard::sqlite {

namespace {

struct Verdict {
  ErrorCode code;
  std::string text;
};

bool no_space(int error_number) noexcept {
  // EFBIG: the limit of a file's size (ulimit -f) is full storage to whoever runs into it.
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

bool is_there(const std::filesystem::path& path) noexcept {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::string message_of(int code, sqlite3* database) {
  // The connection's message belongs to the last call, which may not be the one that failed.
  if (database != nullptr && sqlite3_extended_errcode(database) == code)
    return sqlite3_errmsg(database);
  return sqlite3_errstr(code);
}

Verdict can_not_open(const Place& place, const std::string& message) {
  const std::filesystem::path directory = place.file.parent_path();
  if (!is_there(directory))
    return {ErrorCode::unavailable,
            "the directory of " + place.str() + " is not there: is it mounted?"};
  if (!is_there(place.file)) return {ErrorCode::not_found, place.str() + " does not exist"};
  // Even a reader of a write-ahead log needs a file beside it.
  if (::access(directory.c_str(), W_OK) != 0 && (errno == EROFS || errno == EACCES))
    return {ErrorCode::read_only,
            "the directory of " + place.str() + " can not be written: " + std::strerror(errno)};
  return {ErrorCode::unavailable, "can not open " + place.str() + ": " + message};
}

Verdict input_output(int code, int error_number, const Place& place, Phase phase,
                     const std::string& message) {
  // A write that failed comes before the commit mark is complete; a failure later than that, of the
  // sync or of the shared memory, leaves open what the next recovery will find.
  const bool before_commit_mark = phase != Phase::commit || code == SQLITE_IOERR_WRITE;
  if (no_space(error_number) && before_commit_mark)
    return {ErrorCode::storage_full, "no space is left for " + place.str() + ": " + message + ", " +
                                         std::strerror(error_number)};
  if (phase == Phase::commit)
    return {ErrorCode::outcome_unknown,
            "the storage of " + place.str() +
                " failed during COMMIT, which may have happened or not: " + message};
  return {ErrorCode::unavailable, "the storage of " + place.str() + " failed: " + message};
}

Verdict busy(int code, const Place& place, Phase phase) {
  if (code == SQLITE_BUSY_SNAPSHOT)
    return {ErrorCode::conflict, "another transaction wrote to " + place.str() +
                                     " since this one began reading; begin again"};
  if (phase == Phase::begin)
    return {ErrorCode::conflict, "another writer holds the write lock of " + place.str() + ": " +
                                     describe_lock_holder(place.file)};
  return {ErrorCode::conflict, place.str() + " is locked by another connection"};
}

// SQLite keeps the system's error number of a statement, but not that of a COMMIT.
int system_error_number(sqlite3* database) noexcept {
  const int last = errno;
  const int kept = database == nullptr ? 0 : sqlite3_system_errno(database);
  return kept != 0 ? kept : last;
}

Verdict verdict(int code, sqlite3* database, const Place& place, Phase phase) {
  const int error_number = system_error_number(database);
  const std::string message = message_of(code, database);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_PROTOCOL:
    case SQLITE_LOCKED:
      return busy(code, place, phase);
    case SQLITE_FULL:
      return {ErrorCode::storage_full, "no space is left for " + place.str() + ": " + message};
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_DBMOVED)
        return {ErrorCode::not_found, "the file of " + place.str() + " was removed or replaced"};
      return {ErrorCode::read_only, place.str() + " can not be written: " + message};
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::read_only, "no permission for " + place.str() + ": " + message};
    case SQLITE_CANTOPEN:
      return can_not_open(place, message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::corrupt, place.str() + " is damaged: " + message +
                                      "; restore it, or look at it with `PRAGMA integrity_check`"};
    case SQLITE_IOERR:
      return input_output(code, error_number, place, phase, message);
    case SQLITE_CONSTRAINT:
      if (message.compare(0, refusal_prefix.size(), refusal_prefix) == 0)
        return {ErrorCode::not_owner, place.str() + ": " + message.substr(refusal_prefix.size())};
      return {ErrorCode::constraint, message + " in " + place.str()};
    case SQLITE_INTERRUPT:
      return {ErrorCode::timeout, "a statement in " + place.str() + " was stopped at its deadline"};
    case SQLITE_MISUSE:
      return {ErrorCode::internal, "SQLite was used wrongly on " + place.str() + ": " + message};
    case SQLITE_NOMEM:
      return {ErrorCode::unavailable, "out of memory in " + place.str()};
    default:
      return {ErrorCode::sql, message + " in " + place.str()};
  }
}

}  // namespace

Error translate(int code, sqlite3* database, const Place& place, Phase phase,
                std::string_view sql) {
  constexpr std::size_t sql_shown_max = 300;
  Verdict found = verdict(code, database, place, phase);
  if (found.code == ErrorCode::sql && !sql.empty())
    found.text += "; the statement: " + std::string(sql.substr(0, sql_shown_max)) +
                  (sql.size() > sql_shown_max ? "…" : "");
  return Error(found.code, found.text).with_sqlstate(std::to_string(code));
}

Error system_error(int error_number, const std::string& what) {
  const std::string text = "can not " + what + ": " + std::strerror(error_number);
  if (no_space(error_number)) return {ErrorCode::storage_full, text};
  if (error_number == EACCES || error_number == EPERM || error_number == EROFS)
    return {ErrorCode::read_only, text};
  return {ErrorCode::unavailable, text};
}

bool ends_session(ErrorCode code) noexcept {
  return code == ErrorCode::unavailable || code == ErrorCode::outcome_unknown ||
         code == ErrorCode::corrupt || code == ErrorCode::not_found;
}

}  // namespace ringshard::sqlite
