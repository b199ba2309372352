#include "backend/sqlite/session.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include "backend/home_row.hpp"

namespace ringshard::sqlite {

namespace {

constexpr std::size_t statements_kept_max = 128;
constexpr int operations_between_looks = 1000;

// A file that is watched is looked up all the same now and then, as nothing tells of a file system
// that is mounted over it.
constexpr int looks_left_out_max = 256;

// A statement that has to read the file, and as little of it as there is.
constexpr const char* begin_snapshot_sql = "PRAGMA main.data_version";
constexpr const char* schema_version_sql = "PRAGMA main.schema_version";

// For locks that are not the one a transaction begins with: of a file that is being opened, of the
// reference home while it is written.
constexpr std::chrono::milliseconds other_lock_wait_max(2000);

constexpr std::chrono::microseconds lock_sleep_min(50);
constexpr std::chrono::microseconds lock_sleep_max(1000);

/// True for the length of a scope.
class Flag {
 public:
  explicit Flag(bool& flag) : flag_(flag) { flag_ = true; }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;
  ~Flag() { flag_ = false; }

 private:
  bool& flag_;
};

class ResetAtEnd {
 public:
  explicit ResetAtEnd(sqlite3_stmt* statement) : statement_(statement) {}
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;
  ~ResetAtEnd() { sqlite3_reset(statement_); }

 private:
  sqlite3_stmt* statement_;
};

// The path as SQLite's URI form wants it.
std::string escaped(const std::string& path) {
  std::string text;
  for (const char byte : path) {
    switch (byte) {
      case '?':
        text += "%3f";
        break;
      case '#':
        text += "%23";
        break;
      case '%':
        text += "%25";
        break;
      default:
        text += byte;
    }
  }
  return text;
}

}  // namespace

void SqliteSession::CloseDatabase::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

SqliteSession::SqliteSession(SessionSpec spec, Clock& clock)
    : spec_(std::move(spec)),
      clock_(clock),
      database_(open(spec_)),
      // SQLite opens a file that it may not write for reading only, without a word.
      file_is_read_only_(sqlite3_db_readonly(database_.get(), "main") == 1),
      // By the name that SQLite has found behind symbolic links, as it looks that up.
      file_is_watched_(spec_.watch &&
                       spec_.watch->add(sqlite3_db_filename(database_.get(), "main"))),
      statements_(database_.get(), spec_.place, statements_kept_max) {
  configure();
  begin_read_ = prepare_own("BEGIN");
  begin_write_ = prepare_own("BEGIN IMMEDIATE");
  commit_ = prepare_own("COMMIT");
  rollback_ = prepare_own("ROLLBACK");
  begin_snapshot_ = prepare_own(begin_snapshot_sql);
  schema_version_now_ = prepare_own(schema_version_sql);
  if (spec_.reference) attach_reference();
}

SqliteSession::~SqliteSession() { rollback(); }

// ---- opening
// ---------------------------------------------------------------------------------------

SqliteSession::DatabaseHandle SqliteSession::open(const SessionSpec& spec) {
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI |
                    (spec.create ? SQLITE_OPEN_CREATE : 0);
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(spec.place.file.c_str(), &opened, flags, nullptr);
  DatabaseHandle database(opened);
  if (code == SQLITE_OK) return database;
  const int extended = opened == nullptr ? code : sqlite3_extended_errcode(opened);
  throw translate(extended, opened, spec.place, Phase::open);
}

void SqliteSession::configure() {
  sqlite3_extended_result_codes(database_.get(), 1);
  sqlite3_busy_handler(database_.get(), on_busy, this);
  const bool maintenance = spec_.use == SessionUse::maintenance;
  const bool foreign_keys = !maintenance && spec_.options.foreign_keys;
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, maintenance ? 0 : 1, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_FKEY, foreign_keys ? 1 : 0, nullptr);
  run_pragma(spec_.options.synchronous_full ? "PRAGMA synchronous = FULL"
                                            : "PRAGMA synchronous = NORMAL");
  if (spec_.create) run_pragma("PRAGMA journal_mode = WAL");
}

void SqliteSession::attach_reference() {
  Statement attach(database_.get(), "ATTACH $1 AS ringshard_reference", spec_.place);
  const std::string uri = "file:" + escaped(spec_.reference->string()) + "?mode=ro";
  const ValueView parameter = std::string_view(uri);
  attach.bind({&parameter, 1});
  const int code = sqlite3_step(attach.handle());
  if (code != SQLITE_DONE)
    throw translate(code, database_.get(),
                    Place{"the reference home of " + spec_.place.name, *spec_.reference},
                    Phase::open);
}

void SqliteSession::run_pragma(const char* sql) {
  const int code = sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw translate(code, database_.get(), spec_.place, Phase::open, sql);
}

StatementHandle SqliteSession::prepare_own(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) fail(code, Phase::begin, sql);
  return StatementHandle(statement);
}

// ---- locks and deadlines
// ---------------------------------------------------------------------------

int SqliteSession::on_busy(void* self, int calls) {
  return static_cast<SqliteSession*>(self)->wait_for_lock(calls) ? 1 : 0;
}

bool SqliteSession::wait_for_lock(int calls) {
  const TimePoint now = clock_.now();
  if (calls == 0)
    wait_end_ = waits_for_begin_ ? lock_deadline_.at()
                                 : std::min(now + other_lock_wait_max, statement_deadline_.at());
  if (now >= wait_end_) return false;
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(wait_end_ - now);
  const auto pause = std::min(lock_sleep_min * (1 << std::min(calls, 5)), lock_sleep_max);
  clock_.sleep_for(std::clamp(left, std::chrono::microseconds(1), pause));
  return true;
}

int SqliteSession::on_progress(void* self) {
  auto* session = static_cast<SqliteSession*>(self);
  // A COMMIT that has happened must not be reported as interrupted.
  if (session->ending_) return 0;
  return session->statement_deadline_.passed(session->clock_) ? 1 : 0;
}

void SqliteSession::set_statement_deadline(Deadline deadline) {
  statement_deadline_ = deadline;
  sqlite3_progress_handler(database_.get(), operations_between_looks,
                           deadline.limited() ? on_progress : nullptr, this);
}

void SqliteSession::set_durable(bool durable) {
  if (mode_)
    throw Error(ErrorCode::internal,
                "how durable commits are can not be changed inside a transaction");
  if (durable == durable_) return;
  // FULL writes the whole log that was written so far to the storage, also what others wrote with
  // NORMAL.
  run_pragma(durable && spec_.options.synchronous_full ? "PRAGMA synchronous = FULL"
                                                       : "PRAGMA synchronous = NORMAL");
  durable_ = durable;
}

// ---- transactions
// ----------------------------------------------------------------------------------

void SqliteSession::begin_transaction(TxMode mode, Deadline lock_deadline) {
  if (!usable_)
    throw Error(ErrorCode::unavailable,
                "this session with " + spec_.place.str() + " is broken: open a new one");
  if (mode_)
    throw Error(ErrorCode::internal, "a transaction is already open in " + spec_.place.str());
  if (mode != TxMode::read && file_is_read_only_)
    throw Error(ErrorCode::read_only,
                spec_.place.str() + " can not be written: look at the permissions of its file");
  lock_deadline_ = lock_deadline;
  sqlite3_stmt* begin = mode == TxMode::read ? begin_read_.get() : begin_write_.get();
  const Flag ending(ending_);
  const Flag waits(waits_for_begin_);
  run(begin, "BEGIN", Phase::begin);
  mode_ = mode;
}

void SqliteSession::begin(TxMode mode, Deadline lock_deadline) {
  begin_transaction(mode, lock_deadline);
  record_is_known_ = false;  // nobody has looked at the record as of this transaction
  try {
    require_in_place();
  } catch (...) {
    rollback();
    throw;
  }
}

const HomeRecord* SqliteSession::begin_home(const HomeName& home, TxMode mode,
                                            Deadline lock_deadline) {
  if (!spec_.home || *spec_.home != home)
    throw Error(ErrorCode::internal,
                "a session with " + spec_.place.str() + " was asked for home " + home.str());
  begin_transaction(mode, lock_deadline);
  try {
    const Flag waits(waits_for_begin_);
    const HomeRecord* record = read_record();
    // After the snapshot has begun: a file that lost its name may have lost its write-ahead log
    // too, and what it says without that is old.
    require_in_place();
    return record;
  } catch (...) {
    rollback();
    throw;
  }
}

void SqliteSession::require_in_place() {
  if (file_is_watched_) {
    const std::uint64_t changes = spec_.watch->changes();
    if (changes == in_place_at_ && ++looks_left_out_ < looks_left_out_max) return;
    in_place_at_ = changes;
    looks_left_out_ = 0;
  }
  int moved = 0;
  sqlite3_file_control(database_.get(), nullptr, SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved == 0) return;
  usable_ = false;
  throw Error(ErrorCode::not_found,
              "the file of " + spec_.place.str() + " was removed or replaced since it was opened");
}

// The first column of the first row.
std::int64_t SqliteSession::number_of(sqlite3_stmt* statement, Phase phase, std::string_view sql) {
  const ResetAtEnd reset(statement);
  const int code = sqlite3_step(statement);
  if (code != SQLITE_ROW) fail(code, phase, sql);
  return sqlite3_column_int64(statement, 0);
}

const HomeRecord* SqliteSession::read_record() {
  // A transaction that writes has its snapshot already.
  if (mode_ == TxMode::read) number_of(begin_snapshot_.get(), Phase::begin, begin_snapshot_sql);
  const std::uint32_t now = data_version();
  if (!record_is_known_ || known_at_ != now) {
    record_is_known_ = false;
    record_now_ = select_record();
    record_is_known_ = true;
    known_at_ = now;
  }
  return record_now_ ? &*record_now_ : nullptr;
}

// Of the open transaction's snapshot, else of the last one; another number once anything was
// committed, by this session or another. Unlike the pragma of that name it takes no statement, and
// counts this session's own commits too.
std::uint32_t SqliteSession::data_version() noexcept {
  unsigned int version = 0;
  const int code =
      sqlite3_file_control(database_.get(), nullptr, SQLITE_FCNTL_DATA_VERSION, &version);
  if (code != SQLITE_OK) record_is_known_ = false;
  return version;
}

std::optional<HomeRecord> SqliteSession::select_record() {
  static const std::string sql =
      "SELECT " + std::string(home_record_columns) + " FROM main.ringshard_home WHERE id = 1";
  const auto has_table = [this] {
    return sqlite3_table_column_metadata(database_.get(), "main", "ringshard_home", nullptr,
                                         nullptr, nullptr, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  if (!record_) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    record_.reset(statement);
    if (code != SQLITE_OK) {
      // Built first: asking whether the table is there overwrites the connection's message.
      const Error error = translate(code, database_.get(), spec_.place, Phase::begin, sql);
      if (code == SQLITE_ERROR && !has_table()) return std::nullopt;
      if (ends_session(error.code())) usable_ = false;
      throw error;
    }
  }
  const ResetAtEnd reset(record_.get());
  const int code = sqlite3_step(record_.get());
  if (code == SQLITE_DONE) return std::nullopt;
  if (code != SQLITE_ROW) fail(code, Phase::begin, sql);

  std::array<ValueView, home_record_width> row;
  for (std::size_t column = 0; column < row.size(); ++column)
    row[column] = column_value(record_.get(), static_cast<int>(column));
  try {
    HomeRecord record = decode_home_record(row);
    require_same_home(*spec_.home, record);
    return record;
  } catch (const Error& error) {
    if (ends_session(error.code())) usable_ = false;
    throw Error(error.code(), spec_.place.str() + ": " + error.what());
  }
}

void SqliteSession::commit() {
  if (!mode_) throw Error(ErrorCode::internal, "no transaction is open in " + spec_.place.str());
  require_same_transaction_state("COMMIT");
  int code = SQLITE_OK;
  {
    const Flag ending(ending_);
    errno = 0;  // the translation of a failure reads it
    code = sqlite3_step(commit_.get());
    if (code == SQLITE_DONE) {
      sqlite3_reset(commit_.get());
      // What others have committed since is not in this number: it comes with the next snapshot.
      if (record_is_known_) known_at_ = data_version();
      schema_is_uncommitted_ = false;
      end_transaction();
      return;
    }
  }
  const Error error = translate(code, database_.get(), spec_.place, Phase::commit);
  sqlite3_reset(commit_.get());
  rollback();
  if (ends_session(error.code())) usable_ = false;
  throw error;
}

void SqliteSession::rollback() noexcept {
  // The database may have rolled back by itself, after an error that it could not undo otherwise.
  if (database_ && mode_ && sqlite3_get_autocommit(database_.get()) == 0) {
    const Flag ending(ending_);
    const int code = sqlite3_step(rollback_.get());
    sqlite3_reset(rollback_.get());
    if (code != SQLITE_DONE && sqlite3_get_autocommit(database_.get()) == 0) usable_ = false;
  }
  // The version that was rolled back will be given again, to other definitions.
  if (schema_is_uncommitted_) schema_version_ = -1;
  schema_is_uncommitted_ = false;
  end_transaction();
}

void SqliteSession::end_transaction() noexcept {
  mode_.reset();
  if (!query_only_) return;
  query_only_ = false;
  if (sqlite3_exec(database_.get(), "PRAGMA query_only = 0", nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    usable_ = false;
}

void* SqliteSession::native_handle() noexcept {
  record_is_known_ = false;
  // What goes through the handle is not seen here, so SQLite itself has to refuse writes.
  if (mode_ == TxMode::read && !query_only_)
    query_only_ = sqlite3_exec(database_.get(), "PRAGMA query_only = 1", nullptr, nullptr,
                               nullptr) == SQLITE_OK;
  return database_.get();
}

std::int64_t SqliteSession::schema_version() {
  require_ready(schema_version_sql);
  return number_of(schema_version_now_.get(), Phase::statement, schema_version_sql);
}

std::shared_ptr<const HomeSchema> SqliteSession::kept_schema(std::int64_t version) const {
  return version == schema_version_ ? schema_ : nullptr;
}

void SqliteSession::keep_schema(std::int64_t version, std::shared_ptr<const HomeSchema> schema) {
  schema_version_ = version;
  schema_ = std::move(schema);
  schema_is_uncommitted_ = mode_.has_value() && *mode_ != TxMode::read;
}

// ---- statements
// ------------------------------------------------------------------------------------

void SqliteSession::run(sqlite3_stmt* statement, std::string_view sql, Phase phase) {
  const ResetAtEnd reset(statement);
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(statement);
  if (code != SQLITE_DONE) fail(code, phase, sql);
}

void SqliteSession::fail(int code, Phase phase, std::string_view sql) {
  Error error = translate(code, database_.get(), spec_.place, phase, sql);
  if (ends_session(error.code())) usable_ = false;
  throw error;
}

void SqliteSession::require_ready(std::string_view sql) {
  if (!usable_)
    throw Error(ErrorCode::unavailable,
                "this session with " + spec_.place.str() + " is broken: open a new one");
  // Going on would mean to write outside the transaction that checked who the owner is.
  require_same_transaction_state(sql);
  if (statement_deadline_.passed(clock_))
    throw Error(ErrorCode::timeout, "the deadline for statements in " + spec_.place.str() +
                                        " had passed before this one began");
}

void SqliteSession::require_same_transaction_state(std::string_view sql) {
  const bool open = sqlite3_get_autocommit(database_.get()) == 0;
  if (open == mode_.has_value()) return;
  if (open) {
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw Error(ErrorCode::refused,
                "a statement began a transaction in " + spec_.place.str() +
                    " outside ringshard, which was rolled back: " + std::string(sql));
  }
  throw Error(ErrorCode::sql, "the transaction in " + spec_.place.str() +
                                  " has ended already: an earlier error, or a statement that went "
                                  "past ringshard, ended it");
}

void SqliteSession::require_allowed(bool only_reads, bool controls, std::string_view sql) const {
  if (controls)
    throw Error(ErrorCode::refused,
                "transactions begin and end, and databases are attached, through ringshard only; "
                "use SAVEPOINT for a part of a transaction: " +
                    std::string(sql));
  if (mode_ == TxMode::read && !only_reads)
    throw Error(ErrorCode::refused,
                "a statement that writes was run in a read transaction: " + std::string(sql));
}

StatementCache::Lease SqliteSession::prepared(std::string_view sql,
                                              std::span<const ValueView> parameters) {
  require_ready(sql);
  try {
    auto statement = statements_.get(sql);
    require_allowed(statement->only_reads(), statement->ends_or_begins_transaction(), sql);
    if (statement->may_change_record()) record_is_known_ = false;
    statement->bind(parameters);
    return statement;
  } catch (const Error& error) {
    if (ends_session(error.code())) usable_ = false;
    throw;
  }
}

std::int64_t SqliteSession::execute(std::string_view sql, std::span<const ValueView> parameters) {
  const auto statement = prepared(sql, parameters);
  const std::int64_t changes_before = sqlite3_total_changes64(database_.get());
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(statement->handle());
  if (code != SQLITE_DONE) fail(code, Phase::statement, sql);
  require_same_transaction_state(sql);
  // sqlite3_changes() still tells of an earlier statement if this one was not an INSERT, UPDATE or
  // DELETE.
  const bool nothing = sqlite3_total_changes64(database_.get()) == changes_before;
  return nothing ? 0 : sqlite3_changes64(database_.get());
}

void SqliteSession::query(std::string_view sql, std::span<const ValueView> parameters,
                          ResultSink& sink) {
  const auto statement = prepared(sql, parameters);
  int code = sqlite3_step(statement->handle());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code, Phase::statement, sql);
  sink.columns(statement->column_names());
  while (code == SQLITE_ROW) {
    if (!sink.row(statement->row())) break;
    code = sqlite3_step(statement->handle());
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code, Phase::statement, sql);
  require_same_transaction_state(sql);
}

void SqliteSession::run_script(std::string_view sql) {
  record_is_known_ = false;
  while (!sql.empty()) {
    require_ready(sql);
    const NextStatement next = prepare_next(database_.get(), sql, spec_.place);
    sql = next.rest;
    if (!next.handle) continue;
    require_allowed(sqlite3_stmt_readonly(next.handle.get()) != 0, controls_transaction(next.text),
                    next.text);
    if (sqlite3_bind_parameter_count(next.handle.get()) > 0)
      throw Error(ErrorCode::invalid_argument,
                  "a script has no parameters: " + std::string(next.text));
    run(next.handle.get(), next.text, Phase::statement);
    require_same_transaction_state(next.text);
  }
}

}  // namespace ringshard::sqlite
