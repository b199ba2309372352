#include "backend/postgres/dialect.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ringshard/error.hpp>

#include "backend/home_store.hpp"
#include "backend/postgres/capture.hpp"
#include "backend/postgres/schema_reader.hpp"
#include "backend/postgres/session.hpp"
#include "backend/sql_template.hpp"
#include "backend/table_sql.hpp"

namespace ringshard::postgres {

namespace {

// How long a session takes the tables for what they were: PostgreSQL has no number that changes
// with them. A statement that does not fit any more fails; everything that decides something looks
// anew (describe_schema).
constexpr auto schema_is_known_for = std::chrono::seconds(1);

// Of a statement about many keys: a key has key_columns_max columns at most, and a statement takes
// 65,535 parameters.
constexpr std::size_t keys_at_once = 500;

PostgresSession& own(Session& session) {
  auto* found = dynamic_cast<PostgresSession*>(&session);
  if (found == nullptr)
    throw Error(ErrorCode::internal, "a session of another database reached PostgreSQL's dialect");
  return *found;
}

std::shared_ptr<const KnownSchema> known(PostgresSession& session) {
  if (!session.home())
    throw Error(ErrorCode::internal, "a session in no home was asked for the tables of one");
  KeptSchema& kept = session.known_schemas[session.home()->str()];
  const TimePoint now = session.clock().now();
  if (kept.schema && now - kept.read_at <= schema_is_known_for) return kept.schema;
  KnownSchema found = read_tables(session);
  // Unchanged ones stay the same object: what was built for it holds.
  if (!kept.schema || kept.schema->schema != found.schema)
    kept.schema = std::make_shared<const KnownSchema>(std::move(found));
  kept.read_at = now;
  return kept.schema;
}

const KnownTable& known_table(const KnownSchema& schema, std::string_view name) {
  const auto found = schema.tables.find(name);
  if (found == schema.tables.end())
    throw Error(ErrorCode::schema,
                "table " + std::string(name) + " is not there any more: it was dropped or renamed");
  return found->second;
}

Row key_from(RowView texts, const KnownTable& table) {
  Row key;
  for (std::size_t i = 0; i < table.key_kinds.size(); ++i) {
    const auto* text = std::get_if<std::string_view>(&texts[i]);
    std::string bytes;
    key.push_back(text == nullptr ? Value(Null{})
                                  : to_value(value_of(table.key_kinds[i], *text, bytes, true)));
  }
  return key;
}

// The value of a sum of 64-bit numbers, modulo 2^64, from its decimal digits.
std::uint64_t wrapped(std::string_view digits) {
  const bool negative = !digits.empty() && digits.front() == '-';
  std::uint64_t number = 0;
  for (const char digit : digits.substr(negative ? 1 : 0))
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  return negative ? ~number + 1 : number;
}

std::string table_name(PostgresSession& session, std::string_view table) {
  return schema_of(session) + "." + quoted(table);
}

}  // namespace

const Quirks& PostgresDialect::quirks() const noexcept {
  static constexpr Quirks quirks{.concurrent_writers = true,
                                 .typed_columns = true,
                                 .survives_errors = false,
                                 .insert_words = " OVERRIDING SYSTEM VALUE"};
  return quirks;
}

std::shared_ptr<const HomeSchema> PostgresDialect::schema(Session& session) const {
  const std::shared_ptr<const KnownSchema> now = known(own(session));
  return {now, &now->schema};
}

HomeSchema PostgresDialect::describe_schema(Session& session) const {
  PostgresSession& in = own(session);
  in.known_schemas.erase(in.home() ? in.home()->str() : std::string());
  HomeSchema described = known(in)->schema;
  described.statements = read_statements(in);
  return described;
}

std::vector<Obstacle> PostgresDialect::obstacles(Session& session, const HomeSchema& schema) const {
  return find_obstacles(own(session), schema);
}

void PostgresDialect::install_capture(Session& session, const HomeSchema& schema) const {
  postgres::install_capture(own(session), schema);
}

bool PostgresDialect::remove_capture(Session& session, std::int64_t) const {
  // A table of any size is dropped at once.
  postgres::remove_capture(own(session));
  return true;
}

bool PostgresDialect::has_capture(Session& session) const {
  return postgres::has_capture(own(session));
}

std::optional<std::string> PostgresDialect::capture_gap(Session& session,
                                                        const HomeSchema& schema) const {
  return postgres::capture_gap(own(session), schema);
}

void PostgresDialect::become_owner(Session& session) const {
  if (postgres::has_capture(own(session))) unpark(own(session));
}

void PostgresDialect::become_mirror(Session& session) const { silence_triggers(own(session)); }

void PostgresDialect::settle(Session& session) const { check_foreign_keys(own(session)); }

// ---- the change log
// --------------------------------------------------------------------------------

std::int64_t PostgresDialect::log_head(Session& session) const {
  return session.integer("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM " +
                         table_name(own(session), "ringshard_change_seq"));
}

void PostgresDialect::raise_log(Session& session, std::int64_t seq) const {
  raise_counters(session, {{"ringshard_change_seq", "", seq}});
}

std::int64_t PostgresDialect::log_mark(Session&) const { return 0; }

namespace {

// "SELECT seq, leg, table_name, k0, …"; read_changes() reads its rows.
std::string select_changes(PostgresSession& in, const KnownSchema& known) {
  std::size_t width = 1;
  for (const Table& table : known.schema.tables) width = std::max(width, table.key.size());
  return "SELECT seq, leg, table_name, " +
         joined(width, ", ", [](std::size_t i) { return "k" + std::to_string(i); }) + " FROM " +
         table_name(in, "ringshard_change_log");
}

Change change_from(RowView row, const KnownSchema& known) {
  Change change;
  change.seq = std::get<std::int64_t>(row[0]);
  change.leg = std::get<std::int64_t>(row[1]);
  change.table = text_of(row[2]);
  change.key = key_from(row.subspan(3), known_table(known, change.table));
  return change;
}

}  // namespace

std::vector<Change> PostgresDialect::noted_since(Session& session, const HomeSchema&, std::int64_t,
                                                 std::int64_t limit) const {
  PostgresSession& in = own(session);
  const std::shared_ptr<const KnownSchema> now = known(in);
  const ResultHandle result = in.message_survivable(
      select_changes(in, *now) +
      " WHERE transaction_id = pg_current_xact_id() ORDER BY seq LIMIT " + std::to_string(limit));
  ResultRows rows(result.get());
  std::vector<Change> changes;
  for (int i = 0; i < rows.count(); ++i) changes.push_back(change_from(rows.row(i), *now));
  return changes;
}

std::vector<Change> PostgresDialect::log_after(Session& session, const HomeSchema&,
                                               std::int64_t seq, std::int64_t limit) const {
  PostgresSession& in = own(session);
  const std::shared_ptr<const KnownSchema> now = known(in);
  std::vector<Change> changes;
  in.for_each(select_changes(in, *now) + " WHERE seq > $1 ORDER BY seq LIMIT $2", {seq, limit},
              [&](RowView row) {
                changes.push_back(change_from(row, *now));
                return true;
              });
  return changes;
}

bool PostgresDialect::log_has(Session& session, const Table& table, const Row& key) const {
  PostgresSession& in = own(session);
  const std::shared_ptr<const KnownSchema> now = known(in);
  const KnownTable& more = known_table(*now, table.name);
  std::string sql =
      "SELECT count(*) FROM " + table_name(in, "ringshard_change_log") + " WHERE table_name = $1";
  std::vector<ValueView> parameters{std::string_view(table.name)};
  for (std::size_t i = 0; i < key.size(); ++i) {
    sql += " AND k" + std::to_string(i) + "::" + more.key_types[i] + " = $" + std::to_string(i + 2);
    parameters.push_back(view(key[i]));
  }
  std::int64_t found = 0;
  in.for_each(sql, std::span<const ValueView>(parameters), [&found](RowView row) {
    found = std::get<std::int64_t>(row[0]);
    return false;
  });
  return found > 0;
}

// ---- rows
// ------------------------------------------------------------------------------------------

void PostgresDialect::put_evicting(Session& session, const Table& table, RowView row) const {
  PostgresSession& in = own(session);
  const std::shared_ptr<const KnownSchema> now = known(in);
  const KnownTable& more = known_table(*now, table.name);
  // The new row, with the columns' names and types, so that expressions and predicates of indexes
  // can be asked about it as they are about a row of the table.
  const std::string fresh = "(SELECT " +
                            joined(table.columns.size(), ", ",
                                   [&](std::size_t i) {
                                     return "$" + std::to_string(i + 1) +
                                            "::" + more.column_types[i] + " AS " +
                                            quoted(table.columns[i]);
                                   }) +
                            ") AS fresh";
  const std::string same_key = joined(table.key.size(), " AND ", [&](std::size_t i) {
    return quoted(table.key[i]) + " = $" + std::to_string(table.key_positions[i] + 1) +
           "::" + more.key_types[i];
  });
  for (const UniqueKey& key : more.unique_keys) {
    const char* equals = key.nulls_are_equal ? " IS NOT DISTINCT FROM " : " = ";
    std::string sql = "DELETE FROM " + table_name(in, table.name) + " WHERE NOT (" + same_key + ")";
    for (const std::string& expression : key.expressions)
      sql +=
          " AND (" + expression + ")" + equals + "(SELECT (" + expression + ") FROM " + fresh + ")";
    if (!key.predicate.empty())
      sql += " AND (" + key.predicate + ") AND (SELECT (" + key.predicate + ") FROM " + fresh + ")";
    in.execute(sql, row);
  }
  in.execute(upsert_statement(table, quirks()), row);
}

namespace {

void append_copy_text(std::string& out, std::string_view text) {
  for (;;) {
    const std::size_t special = std::min(text.find_first_of("\\\n\r\t"), text.size());
    out += text.substr(0, special);
    if (special == text.size()) return;
    const char byte = text[special];
    out += '\\';
    out += byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\t' ? 't' : '\\';
    text.remove_prefix(special + 1);
  }
}

// A value in COPY's text format.
void append_copy_value(std::string& out, const ValueView& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    out += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&value)) {
    out += text_of(*number);
  } else if (const auto* blob = std::get_if<BlobView>(&value)) {
    // Values may be large.
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\\\x";
    const std::size_t start = out.size();
    out.resize(start + 2 * blob->bytes.size());
    char* to = out.data() + start;
    for (const char byte : blob->bytes) {
      *to++ = digits[static_cast<unsigned char>(byte) >> 4U];
      *to++ = digits[static_cast<unsigned char>(byte) & 15U];
    }
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    append_copy_text(out, *text);
  } else {
    out += "\\N";
  }
}

}  // namespace

std::optional<std::int64_t> PostgresDialect::insert_many(Session& session, const Table& table,
                                                         const RowBatch& rows) const {
  if (rows.empty()) return 0;
  PostgresSession& in = own(session);
  std::string text;
  text.reserve(rows.bytes());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowView row = rows[i];
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) text += '\t';
      append_copy_value(text, row[column]);
    }
    text += '\n';
  }
  in.message("SAVEPOINT ringshard_copy");
  try {
    in.copy_in(
        "COPY " + table_name(in, table.name) + " (" + quoted_list(table.columns) + ") FROM STDIN",
        text);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::constraint || !in.usable()) throw;
    // A mirror write was here first: row by row then, leaving alone what is there.
    in.message("ROLLBACK TO SAVEPOINT ringshard_copy; RELEASE SAVEPOINT ringshard_copy");
    return std::nullopt;
  }
  in.message("RELEASE SAVEPOINT ringshard_copy");
  return static_cast<std::int64_t>(rows.size());
}

namespace {

// What ROW(…)::text has to hold so that it is the text that portable::append_row() makes.
std::string portable_expression(ColumnKind kind, const std::string& column) {
  switch (kind) {
    case ColumnKind::boolean:
      return column + "::int";
    case ColumnKind::real4:
      return "encode(float4send(" + column + " + '0'::real), 'hex')";
    case ColumnKind::real8:
      return "encode(float8send(" + column + " + '0'::double precision), 'hex')";
    case ColumnKind::decimal:
      return "trim_scale(" + column + ")";
    case ColumnKind::padded_text:
      return column + "::text";
    case ColumnKind::bytes:
      return "encode(" + column + ", 'hex')";
    case ColumnKind::timestamp_utc:
      return column + " AT TIME ZONE 'UTC'";
    case ColumnKind::integer:
    case ColumnKind::text:
    case ColumnKind::uuid:
    case ColumnKind::timestamp:
    case ColumnKind::json:
    case ColumnKind::other:
      break;
  }
  return column;
}

std::string row_expression(const Table& table, RowForm form) {
  if (form == RowForm::native) return quoted_list(table.columns);
  return joined(table.columns.size(), ", ", [&](std::size_t i) {
    return portable_expression(table.kinds.at(i), quoted(table.columns[i]));
  });
}

Digest digest_where(PostgresSession& in, const Table& table, RowForm form,
                    const std::string& condition, std::span<const ValueView> parameters) {
  // The halves of a row's hash are hashes of 64 bits with two seeds. sum() of bigints is exact, but
  // of signed numbers: each negative one is 2^64 too small.
  const std::string sql =
      "SELECT count(*), COALESCE(sum(low), 0)::text, COALESCE(sum(high), 0)::text, "
      "COALESCE(div(sum(low) + 18446744073709551616 * count(*) FILTER (WHERE low < 0), "
      "18446744073709551616), 0)::text FROM (SELECT hashtextextended(r, 0) AS low, "
      "hashtextextended(r, 1) AS high FROM (SELECT ROW(" +
      row_expression(table, form) + ")::text COLLATE \"C\" AS r FROM " +
      table_name(in, table.name) + condition + ") AS texts OFFSET 0) AS hashes";
  Digest digest;
  in.for_each(sql, parameters, [&digest](RowView row) {
    digest.rows = std::get<std::int64_t>(row[0]);
    digest.sum_low = wrapped(std::get<std::string_view>(row[1]));
    digest.sum_high =
        wrapped(std::get<std::string_view>(row[2])) + wrapped(std::get<std::string_view>(row[3]));
    return false;
  });
  return digest;
}

}  // namespace

Digest PostgresDialect::digest(Session& session, const Table& table, const KeyRange& range,
                               RowForm form) const {
  std::vector<ValueView> parameters;
  add_bounds(range, parameters);
  return digest_where(own(session), table, form,
                      range_condition(table, range.after.has_value(), range.through.has_value()),
                      parameters);
}

Digest PostgresDialect::digest(Session& session, const Table& table, std::span<const Row> keys,
                               RowForm form) const {
  Digest total;
  // As many as a message has room for, however wide the key is.
  for (std::size_t done = 0; done < keys.size();) {
    const auto part = keys.subspan(done, std::min(keys.size() - done, keys_at_once));
    std::vector<ValueView> parameters;
    for (const Row& key : part)
      for (const Value& value : key) parameters.push_back(view(value));
    total +=
        digest_where(own(session), table, form, keys_condition(table, part.size()), parameters);
    done += part.size();
  }
  return total;
}

// ---- counters
// --------------------------------------------------------------------------------------

namespace {

// The sequences of a home, whose name is $1, that belong to a column: name, table, column, whether
// they count upwards.
constexpr std::string_view owned_sequences =
    "SELECT c.relname AS name, t.relname AS table_name, a.attname AS column_name, "
    "(q.seqincrement > 0)::int AS upwards FROM pg_depend d JOIN pg_class c ON c.oid = d.objid JOIN "
    "pg_namespace n ON n.oid = c.relnamespace JOIN pg_sequence q ON q.seqrelid = c.oid JOIN "
    "pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = "
    "d.refobjsubid WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass "
    "AND d.deptype IN ('a', 'i') AND n.nspname = $1";

}  // namespace

std::vector<Counter> PostgresDialect::counters(Session& session) const {
  PostgresSession& in = own(session);
  std::vector<Counter> counters;
  // One that never gave out a number has no last one.
  in.for_each(
      "SELECT s.sequencename, COALESCE(o.table_name, ''), s.last_value FROM pg_sequences s LEFT "
      "JOIN (" +
          std::string(owned_sequences) +
          ") AS o ON o.name = s.sequencename WHERE s.schemaname = $1 AND s.last_value IS NOT NULL "
          "AND s.sequencename NOT LIKE 'ringshard\\_%' ORDER BY s.sequencename",
      {std::string_view(in.home()->str())}, [&counters](RowView row) {
        counters.push_back({text_of(row[0]), text_of(row[1]), std::get<std::int64_t>(row[2])});
        return true;
      });
  return counters;
}

void PostgresDialect::raise_counters(Session& session, const std::vector<Counter>& counters) const {
  PostgresSession& in = own(session);
  for (const Counter& counter : counters) {
    const std::string name = table_name(in, counter.name);
    // In the direction in which it counts.
    in.rows("SELECT setval(" + literal(name) + ", $1) FROM " + name +
                " AS now, pg_sequence AS s WHERE s.seqrelid = " + literal(name) +
                "::regclass AND (NOT now.is_called OR CASE WHEN s.seqincrement > 0 THEN "
                "now.last_value < $1::bigint ELSE now.last_value > $1::bigint END)",
            {counter.last});
  }
}

void PostgresDialect::raise_foreign_counters(Session& session, const HomeSchema& schema,
                                             const std::vector<Counter>& counters) const {
  PostgresSession& in = own(session);
  std::vector<Counter> here;
  for (const Row& row : in.rows(owned_sequences, {std::string_view(in.home()->str())})) {
    const auto& name = std::get<std::string>(row[0]);
    const auto& table_of_it = std::get<std::string>(row[1]);
    const auto& column = std::get<std::string>(row[2]);
    const Table* described = schema.find(table_of_it);
    if (described == nullptr || std::get<std::int64_t>(row[3]) == 0) continue;
    std::int64_t last = 0;
    for (const Counter& counter : counters)
      if (counter.table == table_of_it) last = std::max(last, counter.last);
    // The other database may have counted by its greatest id. Found by the key's index.
    if (!described->key.empty() && described->key.front() == column)
      last = std::max(last, in.integer("SELECT max(" + quoted(column) + ") FROM " +
                                       table_name(in, table_of_it)));
    if (last > 0) here.push_back({name, table_of_it, last});
  }
  raise_counters(in, here);
}

}  // namespace ringshard::postgres
