#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ringshard/error.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/postgres/connection.hpp"
#include "backend/postgres/values.hpp"
#include "backend/session.hpp"

struct pg_result;

namespace ringshard::postgres {

struct FreeResult {
  void operator()(pg_result* result) const noexcept;
};
using ResultHandle = std::unique_ptr<pg_result, FreeResult>;

/// The tables of a home as a session knows them, for a time.
struct KnownSchema;
struct KeptSchema {
  std::shared_ptr<const KnownSchema> schema;
  TimePoint read_at{};
};

struct SessionSpec {
  std::string dsn;
  std::string place;             ///< for messages
  std::optional<HomeName> home;  ///< in which statements outside of a transaction run
  std::string search_path;       ///< of those that are in no home
  bool is_catalog = false;       ///< its writers exclude each other
  SessionUse use = SessionUse::application;
};

/// A session that works in every home of its node: what a transaction needs is set for that
/// transaction alone, so that a pooler between transactions changes nothing.
class PostgresSession final : public Session {
 public:
  PostgresSession(SessionSpec spec, Clock& clock);
  ~PostgresSession() override;

  const HomeRecord* begin_home(const HomeName& home, TxMode mode, Deadline lock_deadline) override;
  void begin(TxMode mode, Deadline lock_deadline) override;
  void commit() override;
  void rollback() noexcept override;
  bool in_transaction() const noexcept override { return mode_.has_value(); }

  using Session::execute;
  std::int64_t execute(std::string_view sql, std::span<const ValueView> parameters) override;
  void query(std::string_view sql, std::span<const ValueView> parameters,
             ResultSink& sink) override;
  void scan(std::string_view sql, std::span<const ValueView> parameters, ResultSink& sink) override;
  void run_script(std::string_view sql) override;

  void set_durable(bool durable) override { durable_ = durable; }
  void set_statement_deadline(Deadline deadline) override;
  bool usable() const noexcept override { return usable_; }
  std::string_view skip_locked() const noexcept override { return " FOR UPDATE SKIP LOCKED"; }
  void notify() override;
  void* native_handle() noexcept override;

  /// The home of the open transaction, or the one that the session was made for.
  const std::optional<HomeName>& home() const noexcept { return home_ ? home_ : spec_.home; }

  /// Several statements of ringshard's own in one message, which may begin and end transactions;
  /// the result of the last one.
  ResultHandle message(const std::string& sql);

  /// The same in the middle of the application's transaction, under the settings on which the text
  /// of a value depends. From here to the end of the transaction an error can be survived.
  ResultHandle message_survivable(const std::string& sql);
  bool recover() noexcept override;

  /// Rows into a table, by COPY. Error{constraint} if one of their keys is there already; the
  /// transaction is lost then, back to the last savepoint.
  void copy_in(const std::string& statement, const std::string& rows);

  Clock& clock() noexcept { return clock_; }

  // What the dialect keeps with a session.
  std::map<std::string, KeptSchema, std::less<>> known_schemas;

 private:
  class Implicit;

  ResultHandle wait();
  ResultHandle run(std::string_view sql, std::span<const ValueView> parameters);
  void require_sent(bool sent);
  bool wait_for_server();
  [[noreturn]] void lose(ErrorCode code, const std::string& what);
  [[noreturn]] void fail(const pg_result* result, std::string_view sql);
  void require_ready();
  std::string_view one_statement(std::string_view sql) const;
  void require_allowed(std::string_view statement) const;
  void send_deadline();
  std::string begin_text(TxMode mode, const std::string& search_path, Deadline lock_deadline) const;
  std::string lock_text(const HomeName& home, TxMode mode, Deadline lock_deadline) const;
  void begin_outside(TxMode mode, Deadline lock_deadline, const std::string& lock);
  void end_transaction() noexcept;
  void forget_definitions() noexcept;
  bool settings_are_pinned() const noexcept {
    return spec_.use == SessionUse::maintenance || is_survivable_;
  }
  std::string place() const;

  const SessionSpec spec_;
  Clock& clock_;
  Connection connection_;
  bool usable_ = true;
  bool durable_ = true;
  std::optional<TxMode> mode_;
  std::optional<HomeName> home_;      // of the open transaction
  std::optional<HomeRecord> record_;  // as the transaction found it
  bool definitions_may_differ_ = false;
  bool is_survivable_ = false;
  Deadline statement_deadline_;
  bool deadline_is_sent_ = true;
  bool committing_ = false;
  int cursors_ = 0;
  double row_bytes_ = 0;  // of the rows that were scanned last, on average
};

/// A text as an SQL literal.
std::string literal(std::string_view text);

}  // namespace ringshard::postgres
