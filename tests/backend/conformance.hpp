#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <ringshard/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/home_store.hpp"
#include "backend/session.hpp"
#include "support/clock.hpp"

namespace ringshard::testing {

/// What the conformance suite needs of a database: two empty nodes of it, and its words for a few
/// types. A new one derives from this and joins CONFORMANCE_TEST_CASE in fixtures.hpp.
class BackendFixture {
 public:
  virtual ~BackendFixture() = default;

  virtual std::unique_ptr<Backend> open_node(const std::string& name) = 0;

  // Column types.
  virtual std::string blob_type() const = 0;
  virtual std::string double_type() const = 0;
  virtual std::string case_folding_text_type() const = 0;  ///< 'a' and 'A' are the same key
  virtual std::string counted_key_type() const = 0;        ///< a primary key from a counter
};

inline Deadline soon() { return Deadline::after(system_clock(), std::chrono::seconds(20)); }
inline Deadline at_once() { return Deadline::after(system_clock(), std::chrono::milliseconds(5)); }

/// The code of the Error that `work` throws, or nothing if it throws none.
template <class Work>
std::optional<ErrorCode> error_of(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error.code();
  }
}

template <class Work>
std::string message_of(Work&& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

inline Row key(std::int64_t id) { return Row{id}; }
inline Row row(std::int64_t id, std::string text) { return Row{id, std::move(text)}; }

inline bool same(const std::optional<Row>& left, const std::optional<Row>& right) {
  if (left.has_value() != right.has_value()) return false;
  if (!left) return true;
  if (left->size() != right->size()) return false;
  for (std::size_t i = 0; i < left->size(); ++i)
    if (!identical((*left)[i], (*right)[i])) return false;
  return true;
}

/// One home on one node, with a session for the application and one for maintenance.
class TestHome {
 public:
  TestHome(std::unique_ptr<Backend> backend, HomeRecord record, std::vector<std::string> statements)
      : backend_(std::move(backend)), home_{record.keyspace, record.shard} {
    HomeSchema schema;
    schema.statements = std::move(statements);
    backend_->prepare_node();
    backend_->create_home(home_, record, schema);
  }

  Backend& backend() { return *backend_; }
  const Dialect& dialect() { return backend_->dialect(); }
  const HomeName& name() const { return home_; }

  Session& application() { return side(application_, SessionUse::application).session(); }
  HomeStore& store() { return side(maintenance_, SessionUse::maintenance); }
  std::unique_ptr<Session> another(SessionUse use = SessionUse::application) {
    return backend_->connect(home_, use);
  }

  /// Runs `work(store)` in a transaction of the maintenance session.
  template <class Work>
  auto maintain(TxMode mode, Work&& work) {
    SessionTransaction tx(store().session(), home_, mode, soon());
    auto result = work(store());
    tx.commit();
    return result;
  }
  /// Runs `work(session)` in a transaction of the application's session.
  template <class Work>
  void apply(Work&& work) {
    SessionTransaction tx(application(), home_, TxMode::write, soon());
    work(application());
    tx.commit();
  }
  void run(const std::string& sql) {
    apply([&](Session& session) { session.execute(sql); });
  }

  Table table(const std::string& table_name) {
    return maintain(TxMode::read, [&](HomeStore& store) {
      const HomeSchema schema = store.dialect().describe_schema(store.session());
      const Table* found = schema.find(table_name);
      if (found == nullptr) throw Error(ErrorCode::not_found, "no table " + table_name);
      return *found;
    });
  }
  void install_capture() {
    maintain(TxMode::exclusive, [](HomeStore& store) {
      store.dialect().install_capture(store.session(),
                                      store.dialect().describe_schema(store.session()));
      return 0;
    });
  }
  void set_record(const HomeRecord& record) {
    maintain(TxMode::exclusive, [&](HomeStore& store) {
      store.store_record(record);
      return 0;
    });
  }
  std::vector<Change> log() {
    return maintain(TxMode::read, [](HomeStore& store) { return store.log_after(0, 1'000'000); });
  }
  /// The keys in the change log, as "table(key) table(key)".
  std::string logged() {
    std::string text;
    for (const Change& change : log())
      text += (text.empty() ? "" : " ") + change.table + describe(change.key);
    return text;
  }
  std::optional<Row> fetch(const std::string& table_name, const Row& row_key) {
    const Table described = table(table_name);
    return maintain(TxMode::read,
                    [&](HomeStore& store) { return store.fetch(described, row_key); });
  }
  Digest digest(const std::string& table_name, const KeyRange& range = {}) {
    const Table described = table(table_name);
    return maintain(TxMode::read, [&](HomeStore& store) {
      return store.dialect().digest(store.session(), described, range);
    });
  }

 private:
  struct Side {
    std::unique_ptr<Session> session;
    std::unique_ptr<HomeStore> store;
  };
  HomeStore& side(Side& side, SessionUse use) {
    if (!side.session) {
      side.session = backend_->connect(home_, use);
      side.store = std::make_unique<HomeStore>(*side.session, backend_->dialect());
    }
    return *side.store;
  }
  std::unique_ptr<Backend> backend_;
  HomeName home_;
  Side application_;
  Side maintenance_;
};

/// shop_7, the owner, not being moved.
inline HomeRecord at_rest() {
  HomeRecord record;
  record.keyspace = "shop";
  record.shard = ShardId{7};
  return record;
}
inline HomeRecord moving_owner(std::int64_t leg = 1) {
  HomeRecord record = at_rest();
  record.leg = leg;
  record.peer = "target";
  record.move_id = "m1";
  record.mover = "somebody";
  return record;
}
inline HomeRecord mirror(std::int64_t leg = 1) {
  HomeRecord record = moving_owner(leg);
  record.role = Role::mirror;
  record.peer = "source";
  return record;
}

/// A home that is being moved, with capture, and its mirror.
struct MovingPair {
  TestHome owner;
  TestHome target;

  MovingPair(BackendFixture& fixture, const std::vector<std::string>& statements)
      : owner(fixture.open_node("source"), moving_owner(), statements),
        target(fixture.open_node("target"), mirror(), statements) {
    owner.install_capture();
    target.install_capture();
  }

  /// What a mover does with the whole change log, in order.
  std::int64_t tail() {
    const std::vector<RowChange> rows = owner.maintain(TxMode::read, [](HomeStore& store) {
      return store.rows_of(store.log_after(0, 1'000'000));
    });
    return apply(rows);
  }
  std::int64_t apply(const std::vector<RowChange>& rows,
                     UniqueConflict on_conflict = UniqueConflict::evict) {
    return target.maintain(TxMode::write,
                           [&](HomeStore& store) { return store.apply(rows, on_conflict); });
  }
  /// Copies a table in chunks of `rows_max`; returns how many rows were inserted.
  std::int64_t backfill(const std::string& table_name, std::size_t rows_max = 3) {
    const Table table = owner.table(table_name);
    RowBatch batch;
    std::optional<Row> after;
    std::int64_t inserted = 0;
    for (bool end = false; !end;) {
      end = owner.maintain(TxMode::read, [&](HomeStore& store) {
        return store.read_chunk(table, after, rows_max, 1U << 20U, batch);
      });
      inserted += target.maintain(
          TxMode::write, [&](HomeStore& store) { return store.insert_missing(table, batch); });
      if (batch.empty()) break;
      after = primary_key_of(table, batch[batch.size() - 1]);
    }
    return inserted;
  }
};

}  // namespace ringshard::testing
