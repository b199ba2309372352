#include "backend/sqlite/dialect.hpp"

#include <ringshard/error.hpp>
#include <utility>

#include "backend/portable/portable.hpp"
#include "backend/sqlite/capture.hpp"
#include "backend/sqlite/schema_reader.hpp"
#include "backend/sqlite/session.hpp"
#include "backend/table_sql.hpp"
#include "core/row_hash.hpp"

namespace ringshard::sqlite {

namespace {

class DigestSink final : public ResultSink {
 public:
  /// `kinds`: of the columns, for the portable form; empty for the native one.
  explicit DigestSink(std::span<const ColumnKind> kinds) : kinds_(kinds) {}

  bool row(RowView row) override {
    const core::Hash128 hash =
        kinds_.empty() ? core::hash_row(row, scratch_) : portable::hash_row(kinds_, row, scratch_);
    digest_.add(hash.low, hash.high);
    return true;
  }
  const Digest& digest() const noexcept { return digest_; }

 private:
  const std::span<const ColumnKind> kinds_;
  std::string scratch_;
  Digest digest_;
};

std::span<const ColumnKind> kinds_of(const Table& table, RowForm form) {
  if (form == RowForm::native) return {};
  return table.kinds;
}

bool has_counters(Session& session) {
  return session.integer("SELECT count(*) FROM main.sqlite_schema WHERE name = 'sqlite_sequence'") >
         0;
}

}  // namespace

const Quirks& SqliteDialect::quirks() const noexcept {
  static constexpr Quirks quirks{.concurrent_writers = false, .typed_columns = false};
  return quirks;
}

std::shared_ptr<const HomeSchema> SqliteDialect::schema(Session& session) const {
  auto* own = dynamic_cast<SqliteSession*>(&session);
  if (own == nullptr) return std::make_shared<const HomeSchema>(read_schema(session));
  const std::int64_t version = own->schema_version();
  if (auto kept = own->kept_schema(version)) return kept;
  auto schema = std::make_shared<const HomeSchema>(read_schema(session));
  own->keep_schema(version, schema);
  return schema;
}

HomeSchema SqliteDialect::describe_schema(Session& session) const {
  // Not from the cache: these may change while the definitions do not.
  HomeSchema described = *schema(session);
  for (std::string& statement : read_settings(session))
    described.statements.push_back(std::move(statement));
  return described;
}

std::vector<Obstacle> SqliteDialect::obstacles(Session& session, const HomeSchema& schema) const {
  return find_obstacles(session, schema);
}

void SqliteDialect::install_capture(Session& session, const HomeSchema& schema) const {
  sqlite::install_capture(session, schema);
}

bool SqliteDialect::remove_capture(Session& session, std::int64_t rows_max) const {
  return sqlite::remove_capture(session, rows_max);
}

bool SqliteDialect::has_capture(Session& session) const { return sqlite::has_capture(session); }

std::optional<std::string> SqliteDialect::capture_gap(Session& session,
                                                      const HomeSchema& schema) const {
  return sqlite::capture_gap(session, schema);
}

std::int64_t SqliteDialect::log_head(Session& session) const {
  return session.integer(
      "SELECT seq FROM main.sqlite_sequence WHERE name = 'ringshard_change_log'");
}

void SqliteDialect::raise_log(Session& session, std::int64_t seq) const {
  raise_counters(session, {{"ringshard_change_log", "ringshard_change_log", seq}});
}

std::vector<Change> SqliteDialect::log_after(Session& session, const HomeSchema& schema,
                                             std::int64_t seq, std::int64_t limit) const {
  std::vector<Change> changes;
  // Columns: seq, leg, table_name, k0, k1, …, as many as the widest key had when the log was made.
  session.for_each(
      "SELECT * FROM main.ringshard_change_log WHERE seq > $1 ORDER BY seq LIMIT $2", {seq, limit},
      [&](RowView row) {
        const auto name = std::get<std::string_view>(row[2]);
        const Table* table = schema.find(name);
        if (table == nullptr)
          throw Error(ErrorCode::schema,
                      "a change is noted for table " + std::string(name) +
                          ", which is not there any more: it was dropped or renamed during the "
                          "move");
        if (row.size() < 3 + table->key.size())
          throw Error(
              ErrorCode::schema,
              "the primary key of table " + table->name +
                  " is wider than what the change log can note: the table was changed since "
                  "the move began");
        changes.push_back({std::get<std::int64_t>(row[0]), std::get<std::int64_t>(row[1]),
                           table->name, to_row(row.subspan(3, table->key.size()))});
        return true;
      });
  return changes;
}

bool SqliteDialect::log_has(Session& session, const Table& table, const Row& key) const {
  std::string sql = "SELECT count(*) FROM main.ringshard_change_log WHERE table_name = $1";
  std::vector<ValueView> parameters{std::string_view(table.name)};
  for (std::size_t i = 0; i < key.size(); ++i) {
    sql += " AND k" + std::to_string(i) + " = $" + std::to_string(i + 2);
    if (i < table.key_collations.size() && !table.key_collations[i].empty())
      sql += " COLLATE " + quoted(table.key_collations[i]);
    parameters.push_back(view(key[i]));
  }
  bool found = false;
  session.for_each(sql, std::span<const ValueView>(parameters), [&found](RowView row) {
    found = std::get<std::int64_t>(row[0]) > 0;
    return false;
  });
  return found;
}

void SqliteDialect::put_evicting(Session& session, const Table& table, RowView row) const {
  // SQLite knows best which rows are in the way: partial indexes and collations are heeded too.
  session.execute("INSERT OR REPLACE INTO main." + quoted(table.name) + " (" +
                      quoted_list(table.columns) + ") VALUES (" +
                      placeholders(table.columns.size()) + ")",
                  row);
}

Digest SqliteDialect::digest(Session& session, const Table& table, const KeyRange& range,
                             RowForm form) const {
  std::vector<ValueView> parameters;
  add_bounds(range, parameters);
  DigestSink sink(kinds_of(table, form));
  session.query("SELECT " + quoted_list(table.columns) + " FROM main." + quoted(table.name) +
                    range_condition(table, range.after.has_value(), range.through.has_value()),
                parameters, sink);
  return sink.digest();
}

Digest SqliteDialect::digest(Session& session, const Table& table, std::span<const Row> keys,
                             RowForm form) const {
  // One by one: nothing has to travel, and each is surely found by the key's index.
  Digest total;
  for (const Row& key : keys) {
    DigestSink sink(kinds_of(table, form));
    std::vector<ValueView> parameters;
    for (const Value& value : key) parameters.push_back(view(value));
    session.query("SELECT " + quoted_list(table.columns) + " FROM main." + quoted(table.name) +
                      keys_condition(table, 1),
                  parameters, sink);
    total += sink.digest();
  }
  return total;
}

std::vector<Counter> SqliteDialect::counters(Session& session) const {
  std::vector<Counter> counters;
  if (!has_counters(session)) return counters;
  session.for_each("SELECT name, CAST(seq AS INTEGER) FROM main.sqlite_sequence ORDER BY name", {},
                   [&counters](RowView row) {
                     const auto* name = std::get_if<std::string_view>(&row[0]);
                     const auto* last = std::get_if<std::int64_t>(&row[1]);
                     if (name != nullptr && last != nullptr && !is_reserved(*name))
                       counters.push_back({std::string(*name), std::string(*name), *last});
                     return true;
                   });
  return counters;
}

void SqliteDialect::raise_counters(Session& session, const std::vector<Counter>& counters) const {
  if (counters.empty()) return;
  if (!has_counters(session))
    throw Error(ErrorCode::schema, "table " + counters.front().name +
                                       " has no AUTOINCREMENT here, as it has in the other home");
  for (const Counter& counter : counters) {
    const ValueView name = std::string_view(counter.name);
    const bool known =
        session.integer("SELECT count(*) FROM main.sqlite_sequence WHERE name = $1", {name}) > 0;
    session.execute(known ? "UPDATE main.sqlite_sequence SET seq = $2 WHERE name = $1 AND seq < $2"
                          : "INSERT INTO main.sqlite_sequence (name, seq) VALUES ($1, $2)",
                    {name, counter.last});
  }
}

void SqliteDialect::raise_foreign_counters(Session& session, const HomeSchema& schema,
                                           const std::vector<Counter>& counters) const {
  // A table without AUTOINCREMENT goes on after its greatest id.
  std::vector<Counter> here;
  for (const Counter& counter : counters) {
    const bool counts = session.integer(
                            "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name "
                            "= $1 AND sql LIKE '%autoincrement%'",
                            {std::string_view(counter.table)}) > 0;
    if (counts && schema.find(counter.table) != nullptr)
      here.push_back({counter.table, counter.table, counter.last});
  }
  raise_counters(session, here);
}

}  // namespace ringshard::sqlite
