#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/session.hpp"
#include "backend/sqlite/errors.hpp"
#include "backend/sqlite/name_watch.hpp"
#include "backend/sqlite/statement.hpp"

struct sqlite3;

namespace ringshard::sqlite {

/// What to open and how.
struct SessionSpec {
  Place place;
  std::optional<HomeName> home;  ///< empty: the catalog
  SessionUse use = SessionUse::application;
  SqliteOptions options;
  std::optional<std::filesystem::path> reference;  ///< to attach read-only as ringshard_reference
  bool create = false;                             ///< make the file if it is not there
  std::shared_ptr<NameWatch> watch{};              ///< of the node's files; may be empty
};

/// One SQLite connection.
///
/// A lock that another writer holds is waited for with short sleeps, so that it is had soon after
/// it is free; the deadline of the transaction's lock, and the statement deadline, bound the wait.
/// Statements are prepared once and kept.
class SqliteSession final : public Session {
 public:
  SqliteSession(SessionSpec spec, Clock& clock);
  SqliteSession(const SqliteSession&) = delete;
  SqliteSession& operator=(const SqliteSession&) = delete;
  ~SqliteSession() override;

  const HomeRecord* begin_home(const HomeName& home, TxMode mode, Deadline lock_deadline) override;
  void begin(TxMode mode, Deadline lock_deadline) override;
  void commit() override;
  void rollback() noexcept override;
  bool in_transaction() const noexcept override { return mode_.has_value(); }

  std::int64_t execute(std::string_view sql, std::span<const ValueView> parameters) override;
  void query(std::string_view sql, std::span<const ValueView> parameters,
             ResultSink& sink) override;
  void run_script(std::string_view sql) override;
  void set_durable(bool durable) override;
  void set_statement_deadline(Deadline deadline) override;
  bool usable() const noexcept override { return usable_; }
  void* native_handle() noexcept override;

  using Session::execute;

  const Place& place() const noexcept { return spec_.place; }

  /// A number that is another one once the file's definitions have changed.
  std::int64_t schema_version();

  /// Kept for the dialect: the tables as of one version of the file's definitions.
  std::shared_ptr<const HomeSchema> kept_schema(std::int64_t version) const;
  void keep_schema(std::int64_t version, std::shared_ptr<const HomeSchema> schema);

 private:
  static int on_busy(void* self, int calls);
  static int on_progress(void* self);
  bool wait_for_lock(int calls);

  struct CloseDatabase {
    void operator()(sqlite3* database) const noexcept;
  };
  using DatabaseHandle = std::unique_ptr<sqlite3, CloseDatabase>;

  static DatabaseHandle open(const SessionSpec& spec);
  void configure();
  void attach_reference();
  void run_pragma(const char* sql);

  void begin_transaction(TxMode mode, Deadline lock_deadline);
  const HomeRecord* read_record();
  std::optional<HomeRecord> select_record();
  std::uint32_t data_version() noexcept;
  std::int64_t number_of(sqlite3_stmt* statement, Phase phase, std::string_view sql);
  void require_in_place();
  void require_ready(std::string_view sql);
  void require_allowed(bool only_reads, bool controls, std::string_view sql) const;
  void require_same_transaction_state(std::string_view sql);
  StatementCache::Lease prepared(std::string_view sql, std::span<const ValueView> parameters);
  void run(sqlite3_stmt* statement, std::string_view sql, Phase phase);
  void end_transaction() noexcept;
  [[noreturn]] void fail(int code, Phase phase, std::string_view sql);
  StatementHandle prepare_own(std::string_view sql);

  // constant after construction
  const SessionSpec spec_;
  Clock& clock_;
  DatabaseHandle database_;  // closed after every statement is finalized
  const bool file_is_read_only_;
  const bool file_is_watched_;

  StatementHandle begin_read_;
  StatementHandle begin_write_;
  StatementHandle commit_;
  StatementHandle rollback_;
  StatementHandle record_;
  StatementHandle begin_snapshot_;
  StatementHandle schema_version_now_;
  StatementCache statements_;

  bool usable_ = true;
  std::uint64_t in_place_at_ = 0;  // changes() of the watch before the file was last looked up
  int looks_left_out_ = 0;         // since then
  std::optional<TxMode> mode_;     // of the open transaction
  bool ending_ = false;  // BEGIN, COMMIT or ROLLBACK is running, which no deadline may cut short
  bool query_only_ = false;
  bool durable_ = true;
  Deadline lock_deadline_;
  bool waits_for_begin_ = false;
  TimePoint wait_end_{};
  Deadline statement_deadline_;
  // The record as of a data version: what another connection commits gives another version, what
  // this session itself may do to the record forgets it (no trigger or view writes it: names that
  // begin with ringshard_ are the library's), and its other commits take it along.
  std::optional<HomeRecord> record_now_;
  bool record_is_known_ = false;
  std::uint32_t known_at_ = 0;
  std::int64_t schema_version_ = -1;
  bool schema_is_uncommitted_ = false;  // read in a transaction that can still be rolled back
  std::shared_ptr<const HomeSchema> schema_;
};

}  // namespace ringshard::sqlite
