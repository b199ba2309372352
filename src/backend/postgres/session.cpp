#include "backend/postgres/session.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <pqxx/transaction_base>

#include "backend/home_row.hpp"
#include "backend/postgres/errors.hpp"
#include "backend/postgres/listener.hpp"
#include "backend/postgres/locks.hpp"
#include "backend/postgres/session_parts.hpp"
#include "backend/postgres/sql_text.hpp"
#include "backend/postgres/values.hpp"

namespace ringshard::postgres {

namespace {

// A transaction of ringshard's own that holds a lock and hears nothing for so long is ended by the
// server: its client does not run, or can not be reached.
constexpr std::int64_t idle_ms_max = 5'000;

// One that only shares its lock holds nobody up, and may take long to make ready what it sends.
constexpr std::int64_t idle_ms_max_shared = 120'000;

constexpr double scan_bytes = 1 << 20;
constexpr int scan_rows_min = 16;
constexpr int scan_rows_max = 2'000;

// Rows that a policy hides are an error, not absent.
constexpr std::string_view own_settings =
    "SET LOCAL row_security TO off; SET LOCAL ringshard.applying TO on; ";

// What a move decides must not be lost, whatever the database or the role say; a stronger wish of
// theirs stays.
constexpr std::string_view durable_commit =
    "SELECT set_config('synchronous_commit', 'on', true) WHERE "
    "current_setting('synchronous_commit') = 'off'; ";

std::int64_t milliseconds_left(Deadline deadline, Clock& clock) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left(clock)).count();
  return std::clamp<std::int64_t>(left, 1, 2'000'000'000);
}

bool says(const PGresult* result, std::string_view tag) {
  return std::string_view(PQcmdStatus(const_cast<PGresult*>(result))).substr(0, tag.size()) == tag;
}

}  // namespace

void FreeResult::operator()(pg_result* result) const noexcept { PQclear(result); }

std::string literal(std::string_view text) {
  std::string quoted = text.find('\\') == std::string_view::npos ? "'" : " E'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') quoted += byte;
    quoted += byte;
  }
  return quoted + "'";
}

PostgresSession::PostgresSession(SessionSpec spec, Clock& clock)
    : spec_(std::move(spec)), clock_(clock), connection_(spec_.dsn) {}

PostgresSession::~PostgresSession() { rollback(); }

std::string PostgresSession::place() const {
  const std::optional<HomeName>& name = home();
  return name ? "home " + name->str() + " in " + spec_.place : spec_.place;
}

// ---- transactions
// ----------------------------------------------------------------------------------

std::string PostgresSession::begin_text(TxMode mode, const std::string& search_path,
                                        Deadline lock_deadline) const {
  const bool own = spec_.use == SessionUse::maintenance;
  std::string text = mode == TxMode::read ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                                          : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ";
  text += "SET LOCAL search_path TO " + search_path + "; ";
  if (own) text += std::string(pinned_settings) + std::string(own_settings);
  if (!durable_)
    text += "SET LOCAL synchronous_commit TO off; ";
  else if ((own || spec_.is_catalog) && mode != TxMode::read)
    text += durable_commit;
  if (statement_deadline_.limited())
    text += "SET LOCAL statement_timeout TO " +
            std::to_string(milliseconds_left(statement_deadline_, clock_)) + "; ";
  if (own && mode != TxMode::read)
    // Rows are applied in any order: what belongs together is looked at when all of it is there.
    text += "SET CONSTRAINTS ALL DEFERRED; SET LOCAL idle_in_transaction_session_timeout TO " +
            std::to_string(mode == TxMode::exclusive ? idle_ms_max : idle_ms_max_shared) + "; ";
  // Of ringshard's own transactions also what follows the first lock: changes of the definitions.
  if (mode != TxMode::read && lock_deadline.limited())
    text += "SET LOCAL lock_timeout TO " +
            std::to_string(milliseconds_left(lock_deadline, clock_)) + "; ";
  return text;
}

std::string PostgresSession::lock_text(const HomeName& home, TxMode mode,
                                       Deadline lock_deadline) const {
  if (mode == TxMode::read) return {};
  std::string text = "SELECT " + lock_call(home, mode == TxMode::write) + "; ";
  if (lock_deadline.limited() && spec_.use == SessionUse::application)
    text += "SET LOCAL lock_timeout TO DEFAULT; ";
  return text;
}

void PostgresSession::begin(TxMode mode, Deadline lock_deadline) {
  require_ready();
  if (mode_) throw Error(ErrorCode::internal, "a transaction is already open in " + place());
  const bool locks = spec_.is_catalog && mode != TxMode::read;
  begin_outside(mode, lock_deadline,
                locks ? "SELECT " + lock_call(catalog_lock, mode == TxMode::write) : "");
}

void PostgresSession::begin_outside(TxMode mode, Deadline lock_deadline, const std::string& lock) {
  mode_ = mode;
  deadline_is_sent_ = true;
  try {
    message(begin_text(mode, spec_.home ? search_path_of(*spec_.home) : spec_.search_path,
                       lock_deadline) +
            lock);
  } catch (...) {
    rollback();
    throw;
  }
}

const HomeRecord* PostgresSession::begin_home(const HomeName& home, TxMode mode,
                                              Deadline lock_deadline) {
  require_ready();
  if (mode_) throw Error(ErrorCode::internal, "a transaction is already open in " + place());
  home_ = home;
  mode_ = mode;
  record_.reset();
  deadline_is_sent_ = true;
  // The lock, and then, in a statement of its own and so in a later snapshot, who this home is.
  const std::string begin = begin_text(mode, search_path_of(home), lock_deadline);
  try {
    if (!home.shard) {
      message(begin + lock_text(home, mode, lock_deadline) +
              "SET LOCAL ringshard.reference TO on; ");
      return nullptr;
    }
    const ResultHandle found = message(begin + lock_text(home, mode, lock_deadline) + "SELECT " +
                                       std::string(home_record_columns) + " FROM " +
                                       quoted(home.str()) + ".ringshard_home WHERE id = 1");
    ResultRows rows(found.get());
    if (rows.count() == 0) return nullptr;
    HomeRecord record = decode_home_record(rows.row(0));
    require_same_home(home, record);
    return &record_.emplace(std::move(record));
  } catch (const Error& error) {
    const bool no_home = error.sqlstate() == "42P01" || error.sqlstate() == "3F000";
    rollback();
    if (!no_home) throw;
  } catch (...) {
    rollback();
    throw;
  }
  home_ = home;
  mode_ = mode;
  try {
    message(begin);
  } catch (...) {
    rollback();
    throw;
  }
  return nullptr;
}

void PostgresSession::set_statement_deadline(Deadline deadline) {
  statement_deadline_ = deadline;
  deadline_is_sent_ = !mode_;
}

void PostgresSession::send_deadline() {
  deadline_is_sent_ = true;
  if (!statement_deadline_.limited()) {
    message("SET LOCAL statement_timeout TO DEFAULT");
    return;
  }
  const std::int64_t left = milliseconds_left(statement_deadline_, clock_);
  std::string text = "SET LOCAL statement_timeout TO " + std::to_string(left);
  if (spec_.use == SessionUse::maintenance)
    text += "; SET LOCAL idle_in_transaction_session_timeout TO " +
            std::to_string(std::min(left, idle_ms_max));
  message(text);
}

void PostgresSession::commit() {
  if (!mode_) throw Error(ErrorCode::internal, "no transaction is open in " + place());
  if (statement_deadline_.passed(clock_)) {
    // Sent now, nobody would wait for what becomes of it.
    const std::string where = place();
    rollback();
    throw Error(ErrorCode::timeout, where +
                                        ": the deadline had passed before COMMIT, so the "
                                        "transaction was rolled back");
  }
  committing_ = true;
  ResultHandle done;
  try {
    done = message("COMMIT");
  } catch (...) {
    committing_ = false;
    rollback();
    throw;
  }
  committing_ = false;
  const bool committed = says(done.get(), "COMMIT");
  const std::string where = place();
  end_transaction();
  if (!committed)
    throw Error(ErrorCode::sql, where +
                                    ": the transaction was rolled back, because a statement in it "
                                    "had failed");
}

void PostgresSession::rollback() noexcept {
  if (!mode_) return;
  if (usable_) {
    // A server that does not answer is not waited for. The session's own deadline stays what it is.
    const Deadline kept = statement_deadline_;
    statement_deadline_ = Deadline::after(clock_, answer_grace);
    try {
      message("ROLLBACK");
    } catch (const std::exception&) {
      usable_ = false;
    }
    statement_deadline_ = kept;
  }
  if (definitions_may_differ_) known_schemas.clear();  // what this transaction made never was
  end_transaction();
}

void PostgresSession::end_transaction() noexcept {
  connection_.end_transaction();
  mode_.reset();
  home_.reset();
  definitions_may_differ_ = false;
  is_survivable_ = false;
}

void PostgresSession::notify() { message("NOTIFY " + std::string(notification_channel)); }

void* PostgresSession::native_handle() noexcept {
  try {
    return &connection_.transaction();
  } catch (const std::exception&) {
    return nullptr;
  }
}

// ---- statements
// ------------------------------------------------------------------------------------

void PostgresSession::require_ready() {
  if (!usable_)
    throw Error(ErrorCode::unavailable,
                "this session with " + place() + " is broken: open a new one");
  if (statement_deadline_.passed(clock_))
    throw Error(ErrorCode::timeout,
                "the deadline for statements in " + place() + " had passed before this one began");
}

std::string_view PostgresSession::one_statement(std::string_view sql) const {
  const FirstStatement first = first_statement(sql);
  if (first.text.empty() || !first_statement(first.rest).text.empty())
    throw Error(ErrorCode::invalid_argument,
                "one statement was expected: " + std::string(sql.substr(0, 200)));
  require_allowed(first.text);
  return first.text;
}

void PostgresSession::require_allowed(std::string_view statement) const {
  if (controls_transaction(statement))
    throw Error(ErrorCode::refused,
                "transactions begin and end through ringshard only; use SAVEPOINT for a part of a "
                "transaction: " +
                    std::string(statement));
}

/// A statement outside of a transaction runs in one of its own, in the home of the session.
class PostgresSession::Implicit {
 public:
  explicit Implicit(PostgresSession& session) : session_(session), own_(!session.mode_) {
    if (own_) session_.begin_outside(TxMode::write, Deadline(), "");
  }
  Implicit(const Implicit&) = delete;
  Implicit& operator=(const Implicit&) = delete;
  ~Implicit() {
    if (own_) session_.rollback();
  }
  void commit() {
    if (std::exchange(own_, false)) session_.commit();
  }

 private:
  PostgresSession& session_;
  bool own_;
};

std::int64_t PostgresSession::execute(std::string_view sql, std::span<const ValueView> parameters) {
  require_ready();
  const std::string_view statement = one_statement(sql);
  Implicit transaction(*this);
  const ResultHandle result = run(statement, parameters);
  std::int64_t changed = 0;
  bool is_about_rows = says(result.get(), "SELECT");
  for (const char* tag : {"INSERT", "UPDATE", "DELETE", "MERGE"}) {
    if (!says(result.get(), tag)) continue;
    changed = std::atoll(PQcmdTuples(result.get()));
    is_about_rows = true;
  }
  if (!is_about_rows) forget_definitions();
  transaction.commit();
  return changed;
}

void PostgresSession::query(std::string_view sql, std::span<const ValueView> parameters,
                            ResultSink& sink) {
  require_ready();
  const std::string_view statement = one_statement(sql);
  Implicit transaction(*this);
  const ResultHandle result = run(statement, parameters);
  const bool pinned = settings_are_pinned();
  transaction.commit();
  ResultRows rows(result.get(), pinned);
  sink.columns(rows.names());
  for (int i = 0; i < rows.count(); ++i)
    if (!sink.row(rows.row(i))) break;
}

void PostgresSession::scan(std::string_view sql, std::span<const ValueView> parameters,
                           ResultSink& sink) {
  require_ready();
  Implicit transaction(*this);
  const std::string cursor = "ringshard_scan_" + std::to_string(++cursors_);
  run("DECLARE " + cursor + " NO SCROLL CURSOR FOR " + std::string(sql), parameters);
  bool wanted = true;
  for (bool first = true; wanted; first = false) {
    // As many as are about scan_bytes, going by those before; few where nothing is known.
    const int rows_max = row_bytes_ > 0
                             ? static_cast<int>(std::clamp(scan_bytes / row_bytes_, 1.0,
                                                           static_cast<double>(scan_rows_max)))
                             : scan_rows_min;
    const ResultHandle result =
        run("FETCH FORWARD " + std::to_string(rows_max) + " FROM " + cursor, {});
    ResultRows rows(result.get(), settings_are_pinned());
    if (first) sink.columns(rows.names());
    if (rows.count() > 0)
      row_bytes_ = std::max(1.0, static_cast<double>(PQresultMemorySize(result.get())) /
                                     static_cast<double>(rows.count()));
    for (int i = 0; i < rows.count() && wanted; ++i) wanted = sink.row(rows.row(i));
    if (rows.count() < rows_max) break;
  }
  run("CLOSE " + cursor, {});
  transaction.commit();
}

void PostgresSession::run_script(std::string_view sql) {
  require_ready();
  for (FirstStatement next = first_statement(sql); !next.text.empty();
       next = first_statement(next.rest))
    require_allowed(next.text);
  Implicit transaction(*this);
  if (!deadline_is_sent_) send_deadline();
  message(std::string(sql));
  forget_definitions();
  transaction.commit();
}

void PostgresSession::forget_definitions() noexcept {
  known_schemas.clear();
  definitions_may_differ_ = true;
}

}  // namespace ringshard::postgres
