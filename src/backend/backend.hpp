#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/row_batch.hpp"
#include "backend/session.hpp"
#include "core/home.hpp"
#include "core/schema.hpp"

namespace ringshard {

struct Config;

/// A half-open interval of primary keys, (after, through], in the order of the table's primary key.
/// A missing bound is the end of the table on that side.
struct KeyRange {
  std::optional<Row> after;
  std::optional<Row> through;
};

/// Count and checksum of a set of rows, independent of their order. The sum is of 128-bit row
/// hashes modulo 2^128, so that equal rows do not cancel out as they would under XOR.
struct Digest {
  std::int64_t rows = 0;
  std::uint64_t sum_low = 0;
  std::uint64_t sum_high = 0;

  void add(std::uint64_t hash_low, std::uint64_t hash_high) noexcept;
  Digest& operator+=(const Digest& other) noexcept;
  std::string str() const;
  friend bool operator==(const Digest&, const Digest&) = default;
};

/// An entry of the change log.
struct Change {
  std::int64_t seq = 0;
  std::int64_t leg = 0;
  std::string table;
  Row key;
};

/// A counter that hands out ids: an AUTOINCREMENT, a sequence, an identity column.
struct Counter {
  std::string name;
  std::string table;  ///< whose ids they are; empty: of none
  std::int64_t last = 0;
};

/// What two rows are compared in.
enum class RowForm : std::uint8_t {
  native,   ///< as the database has them, to the last bit: for homes of one kind
  portable  ///< as both of two kinds of databases can have them, see backend/portable
};

/// Why a home can not be moved, and what to do about it.
struct Obstacle {
  std::string object;  ///< the table, index or trigger
  std::string reason;
};

/// What a node tells of itself, for a look before a move.
struct NodeFacts {
  std::string version;                            ///< of its database, for people
  std::int64_t major_version = 0;                 ///< comparable among databases of one kind
  std::optional<std::int64_t> bytes_free;         ///< nothing where it can not be read
  std::map<std::string, std::string> collations;  ///< name → version of its rules
  std::vector<Obstacle> concerns;                 ///< what may hold a move up
};

/// Where the databases differ in what a correct caller may observe. The conformance suite reads it.
struct Quirks {
  bool concurrent_writers = true;  ///< two write transactions in one home at the same time
  bool typed_columns = true;       ///< a column holds values of one type only
  bool survives_errors = true;     ///< after a failed statement its transaction can go on
  /// What stands before VALUES, so that a row's own ids are taken.
  std::string_view insert_words = {};
};

class Dialect;

/// What rows of two homes are compared in.
RowForm form_between(const Dialect& left, const Dialect& right) noexcept;

/// The data definition language and introspection of one database: what SQL has no common words
/// for. Stateless; thread-safe. All of it works inside the session's open transaction.
class Dialect {
 public:
  virtual ~Dialect() = default;

  /// The kind of database: "sqlite", "postgres".
  virtual std::string_view engine() const noexcept = 0;

  virtual const Quirks& quirks() const noexcept = 0;

  /// The application's tables as they are now; everything of ringshard's own is left out. Answered
  /// from a cache while the definitions have not changed: then it is the same object again.
  virtual std::shared_ptr<const HomeSchema> schema(Session& session) const = 0;

  /// The same, and the statements also set what an application keeps beside its tables (SQLite's
  /// user_version and application_id).
  virtual HomeSchema describe_schema(Session& session) const { return *schema(session); }

  /// What stands in the way of moving this home: tables without a primary key, NULL inside one, ….
  virtual std::vector<Obstacle> obstacles(Session& session, const HomeSchema& schema) const = 0;

  /// Makes change log, applied tables, checkpoints and triggers. The triggers note changes where
  /// the home's record says owner with a peer, and refuse writes where it says mirror. Doing it
  /// again changes nothing.
  virtual void install_capture(Session& session, const HomeSchema& schema) const = 0;

  /// Removes what install_capture made, if it is there; of its notes at most about `rows_max` at
  /// once, where removing many takes long. Returns true when nothing of it is left. The home's
  /// record says already that nobody mirrors it.
  virtual bool remove_capture(Session& session, std::int64_t rows_max) const = 0;

  virtual bool has_capture(Session& session) const = 0;

  /// A table of `schema` whose changes are not, or not all, noted any more: it was dropped and made
  /// again, or lost its triggers, since install_capture(). Empty if there is none.
  virtual std::optional<std::string> capture_gap(Session& session,
                                                 const HomeSchema& schema) const = 0;

  /// What a mirror lived without (foreign keys and triggers that applied rows must not meet) is
  /// there again: called in the transaction in which a mirror becomes the owner.
  virtual void become_owner(Session& session) const { static_cast<void>(session); }

  /// The opposite, in the transaction in which an owner becomes a mirror.
  virtual void become_mirror(Session& session) const { static_cast<void>(session); }

  /// What becoming the owner left for later, since it takes long: before capture is removed, while
  /// writers go on, in a write transaction.
  virtual void settle(Session& session) const { static_cast<void>(session); }

  /// A place in the change log, for noted_since().
  virtual std::int64_t log_mark(Session& session) const { return log_head(session); }

  /// What this transaction has noted since the mark, and perhaps what others have. Before the
  /// COMMIT: an error of it, and of statements after it, can be survived (Session::recover).
  virtual std::vector<Change> noted_since(Session& session, const HomeSchema& schema,
                                          std::int64_t mark, std::int64_t limit) const {
    return log_after(session, schema, mark, limit);
  }

  /// Inserts rows whose keys, primary or further unique ones, are not there yet, in the database's
  /// fastest way; returns how many. Nothing if there is no faster way than statements.
  virtual std::optional<std::int64_t> insert_many(Session& session, const Table& table,
                                                  const RowBatch& rows) const {
    static_cast<void>(session);
    static_cast<void>(table);
    static_cast<void>(rows);
    return std::nullopt;
  }

  /// The greatest seq that the change log ever gave out, also when its entry is gone; 0 if none.
  virtual std::int64_t log_head(Session& session) const = 0;

  /// No later entry of the change log gets a seq up to this one.
  virtual void raise_log(Session& session, std::int64_t seq) const = 0;

  /// Entries of the change log after `seq`, by seq. Error{schema} if one is of a table that is not
  /// in `schema`.
  virtual std::vector<Change> log_after(Session& session, const HomeSchema& schema,
                                        std::int64_t seq, std::int64_t limit) const = 0;

  /// True if the change log has an entry of this key.
  virtual bool log_has(Session& session, const Table& table, const Row& key) const = 0;

  /// Inserts or overwrites a row of `table`, whose columns these are, and deletes other rows that
  /// hold the same values of a further unique key.
  virtual void put_evicting(Session& session, const Table& table, RowView row) const = 0;

  /// Of two homes comparable only if they are in the same form. The portable one needs the kinds of
  /// the table's columns.
  virtual Digest digest(Session& session, const Table& table, const KeyRange& range,
                        RowForm form = RowForm::native) const = 0;

  /// The same of the rows that have one of these keys, no key twice; absent rows do not count.
  virtual Digest digest(Session& session, const Table& table, std::span<const Row> keys,
                        RowForm form = RowForm::native) const = 0;

  virtual std::vector<Counter> counters(Session& session) const = 0;

  /// Sets each counter to at least the given value.
  virtual void raise_counters(Session& session, const std::vector<Counter>& counters) const = 0;

  /// The same for counters of another kind of database, of which the tables are known here; and
  /// where a table there needs no counter to go on after its greatest id, one here gets beyond
  /// that.
  virtual void raise_foreign_counters(Session& session, const HomeSchema& schema,
                                      const std::vector<Counter>& counters) const = 0;
};

/// Sets the counters of a home to at least those of another one, whose rows are in this form.
void raise_counters(const Dialect& dialect, Session& session, const std::vector<Counter>& counters,
                    RowForm form);

/// One physical database: a PostgreSQL server or a directory of SQLite files. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const Dialect& dialect() const noexcept = 0;

  /// A session that can work in `home`. Error{not_found} if this database keeps a home in something
  /// that has to exist to be connected to (a file) and it does not; Error{unavailable} if the node
  /// can not be reached.
  virtual std::unique_ptr<Session> connect(const HomeName& home, SessionUse use) = 0;

  /// Sessions opened for homes with equal keys are interchangeable: what a pool sorts by.
  virtual std::string session_key(const HomeName& home) const = 0;

  /// How many sessions a pool may keep open beside those in use. Where a session is bound to one
  /// home it pays to keep many, as the next call is for another home.
  virtual std::size_t idle_sessions_max() const noexcept { return 0; }

  /// Throws Error{unavailable} or Error{read_only} if prepare_node() could not succeed; changes
  /// nothing.
  virtual void check_node() = 0;

  /// Makes the node usable for the first time (its directory). Doing it again changes nothing.
  virtual void prepare_node() = 0;

  /// Throws Error{unavailable} naming the node if it can not be reached.
  virtual void ping() = 0;

  /// Throws as ping() does.
  virtual NodeFacts facts() = 0;

  /// A text that is another one after the database went on from an older state than it had: a
  /// replica that took over, a restore. Empty where that can not be told. Throws as ping() does.
  virtual std::string identity() { return {}; }

  virtual bool home_exists(const HomeName& home) = 0;

  /// Makes a home with its tables and, for a shard's home, its record: all of it or nothing.
  /// Error{already_exists} if there is one.
  virtual void create_home(const HomeName& home, const std::optional<HomeRecord>& record,
                           const HomeSchema& schema) = 0;

  /// Removes a home, whatever it holds. Nothing happens if there is none. The caller made sure that
  /// nobody needs it and that its record says so: a session that is still open there must not find
  /// itself the owner.
  virtual void drop_home(const HomeName& home) = 0;

  /// Removes a home under its exclusive lock if `may_go` says so of the record that it has then;
  /// true if the home is gone, also if there was none. So nobody can make it an owner, nor put
  /// another home in its place, between the question and the removal. Error{conflict} if the lock
  /// was not had by `lock_deadline`.
  virtual bool drop_home_if(const HomeName& home,
                            const std::function<bool(const std::optional<HomeRecord>&)>& may_go,
                            Deadline lock_deadline) = 0;

  /// Every home of a keyspace on this node, the reference home too, by looking at the node itself.
  virtual std::vector<HomeName> homes(std::string_view keyspace) = 0;

  /// Bytes that a home takes; an estimate.
  virtual std::int64_t home_bytes(const HomeName& home) = 0;
};

struct SqliteOptions {
  bool synchronous_full =
      true;                  ///< each commit survives a power cut; false: the last ones may be lost
  bool foreign_keys = true;  ///< enforced for the application's statements
};

struct BackendOptions {
  bool durable = false;  ///< each commit survives a power cut, whatever the other options say
  SqliteOptions sqlite;
};

/// What a configuration says of the nodes' databases.
BackendOptions to_backend_options(const Config& config);

/// The backend for a DSN ("sqlite:/directory"). Error{invalid_argument} if no backend knows its
/// scheme.
std::unique_ptr<Backend> open_backend(const std::string& dsn, Clock& clock,
                                      const BackendOptions& options = {});

/// The kind of database that a DSN leads to, as Dialect::engine() names it. Throws as
/// open_backend() does; connects to nothing.
std::string_view engine_of(const std::string& dsn);

/// Hears of changes of a catalog at once, over a connection of its own. An ability that only some
/// databases have. For one thread, but for interrupt().
class CatalogListener {
 public:
  virtual ~CatalogListener() = default;

  /// Returns when something was changed, or when it was interrupted: true if it was changed. Error
  /// if the connection is lost: what changed since is not told by anybody.
  virtual bool wait() = 0;

  /// Makes wait() return, also the next one if none is under way. From any thread.
  virtual void interrupt() noexcept = 0;
};

/// Null if the catalog's database can not tell of changes. Error{unavailable} if it can not be
/// reached.
std::unique_ptr<CatalogListener> listen_to_catalog(const std::string& dsn, Clock& clock);

/// A session with a catalog ("sqlite:/directory/catalog.db"). `create`: make it if it is not there;
/// otherwise that is Error{not_found}.
std::unique_ptr<Session> connect_catalog(const std::string& dsn, Clock& clock, bool create);

}  // namespace ringshard
