#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/home.hpp"
#include "support/clock.hpp"

namespace ringshard {

/// What a transaction may do, and which lock of its shard it holds until it ends.
enum class TxMode : std::uint8_t {
  read,      ///< one snapshot, no lock, nothing can be written
  write,     ///< shared with other writers where the database can do that
  exclusive  ///< no other writer
};

/// What a session is opened for.
enum class SessionUse : std::uint8_t {
  application,  ///< the application's statements: its triggers and foreign keys work
  maintenance   ///< applied rows: neither triggers nor foreign keys fire
};

/// Takes the rows of a query, one at a time.
class ResultSink {
 public:
  virtual ~ResultSink() = default;

  /// Called once, before the first row.
  virtual void columns(std::span<const std::string_view> names) { static_cast<void>(names); }

  /// `row` is valid during the call only. Return false to stop.
  virtual bool row(RowView row) = 0;
};

/// One connection to a node, for one thread at a time; may be handed from thread to thread between
/// calls.
///
/// Every call may throw Error with the code that backend's translation gives it; after one of
/// unavailable, outcome_unknown or corrupt the session is not usable() any more. A transaction that
/// is open when the session is destroyed is rolled back.
class Session {
 public:
  virtual ~Session() = default;

  /// Begins a transaction inside a home and returns its record as this transaction sees it: for
  /// write and exclusive, as of after the lock was granted. It is the session's own, and stays what
  /// it is until the next transaction begins. Null means that nothing of that name is a home; the
  /// transaction is open all the same. Error{conflict} if the lock was not had by `lock_deadline`;
  /// then no transaction is open.
  virtual const HomeRecord* begin_home(const HomeName& home, TxMode mode,
                                       Deadline lock_deadline) = 0;

  /// Begins a transaction outside any home (the catalog, of which exclusive ones exclude each other
  /// and those that write).
  virtual void begin(TxMode mode, Deadline lock_deadline) = 0;

  /// Error{outcome_unknown} if it may have happened or not; after any other error it has not.
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;
  virtual bool in_transaction() const noexcept = 0;

  /// Statements with parameters $1, $2, …; prepared once and kept. Returns the number of rows
  /// changed.
  virtual std::int64_t execute(std::string_view sql, std::span<const ValueView> parameters) = 0;
  virtual void query(std::string_view sql, std::span<const ValueView> parameters,
                     ResultSink& sink) = 0;

  /// The same for a result that may be large: not all of it is in memory at once. The sink must not
  /// use this session.
  virtual void scan(std::string_view sql, std::span<const ValueView> parameters, ResultSink& sink) {
    query(sql, parameters, sink);
  }

  /// Several statements without parameters or results.
  virtual void run_script(std::string_view sql) = 0;

  /// With false, the next transactions of this session need not survive a power cut until somebody
  /// commits in the same home with true, which is the default. They are lost in order: the last
  /// ones, whole. Error{internal} inside a transaction. A database that can not do this commits as
  /// always.
  virtual void set_durable(bool durable) { static_cast<void>(durable); }

  /// A statement still running at the deadline is stopped with Error{timeout}. Stays until set
  /// again.
  virtual void set_statement_deadline(Deadline deadline) = 0;

  /// After an error inside a transaction: true if the transaction can go on, as if what failed had
  /// not been tried.
  virtual bool recover() noexcept { return in_transaction() && usable(); }

  /// False once the connection is lost or its home was replaced: do not reuse it.
  virtual bool usable() const noexcept = 0;

  /// What a SELECT ends with that is to find rows which nobody else is about to change, and to keep
  /// them so until the transaction ends; empty where writers exclude each other anyway.
  virtual std::string_view skip_locked() const noexcept { return {}; }

  /// Inside a write transaction of a catalog: when it is committed, whoever listens (see
  /// CatalogListener) is woken. A database that can not do this does nothing.
  virtual void notify() {}

  /// The driver's own handle (sqlite3*), for code that has a data layer of its own. Do not end the
  /// transaction through it.
  virtual void* native_handle() noexcept = 0;

  // Conveniences over the above.
  std::int64_t execute(std::string_view sql, std::initializer_list<ValueView> parameters = {}) {
    return execute(sql, std::span<const ValueView>(parameters.begin(), parameters.size()));
  }
  using RowFunction = std::function<bool(RowView)>;
  void for_each(std::string_view sql, std::span<const ValueView> parameters,
                const RowFunction& function);
  void for_each(std::string_view sql, std::initializer_list<ValueView> parameters,
                const RowFunction& function) {
    for_each(sql, std::span<const ValueView>(parameters.begin(), parameters.size()), function);
  }
  std::vector<Row> rows(std::string_view sql, std::initializer_list<ValueView> parameters = {});
  std::optional<Row> first_row(std::string_view sql,
                               std::initializer_list<ValueView> parameters = {});
  /// The first column of the first row as an integer; NULL or no row: `otherwise`.
  std::int64_t integer(std::string_view sql, std::initializer_list<ValueView> parameters = {},
                       std::int64_t otherwise = 0);
};

/// Rolls back unless it was committed.
///
///     SessionTransaction tx(session, TxMode::write, deadline);   // or with a home name
///     session.execute(…);
///     tx.commit();
class SessionTransaction {
 public:
  SessionTransaction(Session& session, TxMode mode, Deadline lock_deadline) : session_(session) {
    session_.begin(mode, lock_deadline);
  }
  SessionTransaction(Session& session, const HomeName& home, TxMode mode, Deadline lock_deadline)
      : session_(session) {
    if (const HomeRecord* record = session_.begin_home(home, mode, lock_deadline))
      record_ = *record;
  }
  SessionTransaction(const SessionTransaction&) = delete;
  SessionTransaction& operator=(const SessionTransaction&) = delete;
  ~SessionTransaction() {
    if (session_.in_transaction()) session_.rollback();
  }

  const std::optional<HomeRecord>& record() const { return record_; }
  void commit() { session_.commit(); }

 private:
  Session& session_;
  std::optional<HomeRecord> record_;
};

/// A part of the open transaction that can be undone by itself: what follows is undone at the end
/// of the scope, also after an error, unless it was kept. Not one inside another.
class Savepoint {
 public:
  explicit Savepoint(Session& session) : session_(session) {
    session_.execute("SAVEPOINT ringshard_part");
  }
  Savepoint(const Savepoint&) = delete;
  Savepoint& operator=(const Savepoint&) = delete;
  ~Savepoint();

  void keep();

 private:
  Session& session_;
  bool kept_ = false;
};

/// The one place where an identifier is quoted: "na""me".
std::string quoted(std::string_view identifier);
// Without these, a std::string would find std::quoted wherever <iomanip> was included along the
// way.
inline std::string quoted(const std::string& identifier) {
  return quoted(std::string_view(identifier));
}
inline std::string quoted(std::string& identifier) { return quoted(std::string_view(identifier)); }

/// A comma-separated list of quoted identifiers.
std::string quoted_list(std::span<const std::string> identifiers);

/// "$first, $first+1, …", `count` of them.
std::string placeholders(std::size_t count, std::size_t first = 1);

}  // namespace ringshard
