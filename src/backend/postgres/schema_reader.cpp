#include "backend/postgres/schema_reader.hpp"

#include <algorithm>
#include <array>
#include <ringshard/error.hpp>
#include <set>

#include "backend/home_store.hpp"

namespace ringshard::postgres {

namespace {

// Tables that stand for themselves: partitions belong to the one that they are part of.
constexpr std::string_view tables_of_home =
    "SELECT c.oid::bigint, c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace "
    "AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT LIKE 'ringshard\\_%' "
    "ORDER BY c.relname";

constexpr std::string_view columns_of_home =
    "SELECT a.attrelid::bigint, a.attname, a.atttypid::bigint, "
    "format_type(a.atttypid, a.atttypmod), a.attgenerated::text, a.attidentity::text, "
    "COALESCE(NULLIF(t.typbasetype, 0), t.oid)::bigint "
    "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = "
    "a.atttypid "
    "WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 "
    "AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum";

// One row for each column of a unique index.
constexpr std::string_view unique_indexes_of_home =
    "SELECT i.indrelid::bigint, i.indexrelid::bigint, i.indisprimary, a.attname, "
    "CASE WHEN co.oid IS NULL THEN '' WHEN co.collname = 'default' THEN (SELECT CASE WHEN "
    "datcollate IN ('C', 'POSIX', 'C.UTF-8', 'C.utf8') AND COALESCE(to_jsonb(d) ->> "
    "'datlocprovider', 'c') = 'c' THEN "
    "'\"C\"' ELSE '' END FROM pg_database d WHERE datname = current_database()) "
    "ELSE co.oid::regcollation::text END, pg_get_indexdef(i.indexrelid, k.n::int, true), "
    "pg_get_expr(i.indpred, i.indrelid, true), "
    "COALESCE((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false), "
    "t.typname, t.typtype::text, t.oid::bigint, format_type(a.atttypid, a.atttypmod), "
    "COALESCE(NOT ic.collisdeterministic, false) "
    "FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
    "CROSS JOIN LATERAL unnest(i.indkey::int[]) WITH ORDINALITY AS k(attnum, n) "
    "LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum AND k.attnum > 0 "
    "LEFT JOIN pg_type t ON t.oid = a.atttypid "
    "LEFT JOIN pg_collation co ON co.oid = a.attcollation "
    "LEFT JOIN pg_collation ic ON ic.oid = i.indcollation[k.n - 1] "
    "WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND i.indisunique "
    "AND i.indisvalid AND k.n <= i.indnkeyatts ORDER BY i.indrelid, i.indexrelid, k.n";

struct DefinitionQuery {
  ObjectKind kind;
  std::string_view sql;  ///< name, table, statement
};

// In the order in which they are made; $1: the home's schema, quoted. Definitions name nothing of
// the home with its schema, so that they hold in a home of any name.
constexpr std::array definitions_of_home{
    DefinitionQuery{
        ObjectKind::other,
        "SELECT c.collname, '', format('CREATE COLLATION %I (provider = %s, %s, deterministic = "
        "%s)', c.collname, CASE c.collprovider WHEN 'i' THEN 'icu' ELSE 'libc' END, CASE "
        "c.collprovider WHEN 'i' THEN format('locale = %L', COALESCE(to_jsonb(c) ->> 'colllocale', "
        "to_jsonb(c) ->> 'colliculocale', to_jsonb(c) ->> 'collcollate')) ELSE format('lc_collate "
        "= %L, lc_ctype = %L', c.collcollate, c.collctype) END, c.collisdeterministic::text) "
        "FROM pg_collation c WHERE c.collnamespace = $1::regnamespace ORDER BY c.collname"},
    DefinitionQuery{
        ObjectKind::other,
        "SELECT t.typname, '', format('CREATE TYPE %I AS ENUM (%s)', t.typname, "
        "string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)) "
        "FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid "
        "WHERE t.typnamespace = $1::regnamespace GROUP BY t.typname ORDER BY t.typname"},
    DefinitionQuery{
        ObjectKind::other,
        "SELECT t.typname, '', format('CREATE DOMAIN %I AS %s%s%s%s', t.typname, "
        "format_type(t.typbasetype, t.typtypmod), COALESCE(' DEFAULT ' || t.typdefault, ''), "
        "CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END, COALESCE((SELECT "
        "string_agg(format(' CONSTRAINT %I %s', o.conname, pg_get_constraintdef(o.oid)), '' ORDER "
        "BY o.conname) FROM pg_constraint o WHERE o.contypid = t.oid AND o.contype = 'c'), '')) "
        "FROM pg_type t WHERE t.typnamespace = $1::regnamespace AND t.typtype = 'd' "
        "ORDER BY t.oid"},
    DefinitionQuery{
        ObjectKind::other,
        "SELECT c.relname, '', format('CREATE TYPE %I AS (%s)', c.relname, string_agg(format('%I "
        "%s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum)) "
        "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT "
        "a.attisdropped WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'c' "
        "GROUP BY c.oid, c.relname ORDER BY c.oid"},
    // sequences that stand for themselves or for a serial column
    DefinitionQuery{
        ObjectKind::other,
        "SELECT c.relname, '', format('CREATE SEQUENCE %I AS %s INCREMENT %s MINVALUE %s MAXVALUE "
        "%s START %s CACHE %s%s', c.relname, format_type(s.seqtypid, NULL), s.seqincrement, "
        "s.seqmin, s.seqmax, s.seqstart, s.seqcache, CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' "
        "END) FROM pg_class c JOIN pg_sequence s ON s.seqrelid = c.oid "
        "WHERE c.relnamespace = $1::regnamespace AND c.relname NOT LIKE 'ringshard\\_%' "
        "AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass "
        "AND d.objid = c.oid AND d.deptype = 'i') ORDER BY c.relname"},
    // functions, whose bodies are not looked into: they may speak of tables that come later
    DefinitionQuery{
        ObjectKind::other,
        "SELECT p.proname, '', replace(pg_get_functiondef(p.oid), format(' %s.%I(', $1::text, "
        "p.proname), "
        "format(' %I(', p.proname)) FROM pg_proc p WHERE p.pronamespace = $1::regnamespace AND "
        "p.prokind IN ('f', 'p') AND p.proname NOT LIKE 'ringshard\\_%' ORDER BY p.proname, p.oid"},
    // tables with all that is checked row by row
    DefinitionQuery{
        ObjectKind::table,
        "SELECT c.relname, c.relname, format('CREATE TABLE %I (%s%s)%s%s', c.relname, "
        "(SELECT string_agg(format('%I %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), "
        "CASE WHEN a.attcollation <> 0 AND a.attcollation <> t.typcollation "
        "THEN ' COLLATE ' || a.attcollation::regcollation::text ELSE '' END, "
        "CASE WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || "
        "pg_get_expr(d.adbin, d.adrelid) || ') STORED' "
        "WHEN a.attidentity <> '' THEN ' GENERATED ' || CASE a.attidentity WHEN 'a' THEN 'ALWAYS' "
        "ELSE 'BY DEFAULT' END || (SELECT format(' AS IDENTITY (SEQUENCE NAME %I INCREMENT %s "
        "MINVALUE %s MAXVALUE "
        "%s START %s CACHE %s%s)', q.relname, s.seqincrement, s.seqmin, s.seqmax, s.seqstart, "
        "s.seqcache, "
        "CASE WHEN s.seqcycle THEN ' CYCLE' ELSE '' END) FROM pg_depend p JOIN pg_sequence s ON "
        "s.seqrelid = p.objid JOIN pg_class q ON q.oid = p.objid WHERE p.classid = "
        "'pg_class'::regclass AND p.refclassid = "
        "'pg_class'::regclass AND p.refobjid = a.attrelid AND p.refobjsubid = a.attnum AND "
        "p.deptype = 'i') "
        "ELSE COALESCE(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END, "
        "CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END), ', ' ORDER BY a.attnum) "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d "
        "ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = c.oid AND "
        "a.attnum > 0 AND NOT a.attisdropped), "
        "COALESCE((SELECT string_agg(format(', CONSTRAINT %I %s', o.conname, "
        "pg_get_constraintdef(o.oid)), '' ORDER BY o.contype DESC, o.conname) FROM pg_constraint o "
        "WHERE o.conrelid = c.oid AND o.contype IN ('p', 'u', 'c', 'x')), ''), "
        "CASE c.relkind WHEN 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(c.oid) ELSE '' END, "
        "COALESCE(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '')) "
        "FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') "
        "AND NOT c.relispartition AND c.relname NOT LIKE 'ringshard\\_%' ORDER BY c.relname"},
    DefinitionQuery{
        ObjectKind::index,
        "SELECT c.relname, pg_partition_root(c.oid)::regclass::name, format('CREATE TABLE %I "
        "PARTITION OF %I %s%s', c.relname, p.relname, pg_get_expr(c.relpartbound, c.oid), CASE "
        "c.relkind WHEN 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(c.oid) ELSE '' END) "
        "FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid JOIN pg_class p ON p.oid = "
        "i.inhparent WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('r', 'p') AND "
        "c.relispartition ORDER BY c.oid"},
    // which sequence goes with which column
    DefinitionQuery{
        ObjectKind::index,
        "SELECT s.relname, t.relname, format('ALTER SEQUENCE %I OWNED BY %I.%I', s.relname, "
        "t.relname, a.attname) FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = "
        "'S' JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND "
        "a.attnum = d.refobjsubid WHERE d.classid = 'pg_class'::regclass AND d.refclassid = "
        "'pg_class'::regclass AND d.deptype = 'a' AND s.relnamespace = $1::regnamespace "
        "AND s.relname NOT LIKE 'ringshard\\_%' ORDER BY s.relname"},
    // indexes that are no constraint's and no partition's
    DefinitionQuery{
        ObjectKind::index,
        "SELECT x.relname, t.relname, replace(pg_get_indexdef(i.indexrelid), format(' %s.%I ', "
        "$1::text, "
        "t.relname), format(' %I ', t.relname)) FROM pg_index i JOIN pg_class t ON t.oid = "
        "i.indrelid JOIN pg_class x ON x.oid = i.indexrelid WHERE t.relnamespace = "
        "$1::regnamespace "
        "AND NOT x.relispartition AND t.relname NOT LIKE 'ringshard\\_%' AND NOT EXISTS (SELECT "
        "FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u', 'x')) "
        "ORDER BY x.relname"},
};

constexpr std::string_view views_of_home =
    "SELECT c.relname, c.relname, format('CREATE %s %I AS %s', CASE c.relkind WHEN 'm' THEN "
    "'MATERIALIZED VIEW' ELSE 'VIEW' END, c.relname, rtrim(pg_get_viewdef(c.oid), ';')) "
    "FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN ('v', 'm') "
    "ORDER BY c.oid";

constexpr std::string_view foreign_keys_of_home =
    "SELECT t.relname, o.conname, format('ALTER TABLE %I ADD CONSTRAINT %I %s', t.relname, "
    "o.conname, pg_get_constraintdef(o.oid)), o.condeferrable, r.relname FROM pg_constraint o "
    "JOIN pg_class t ON t.oid = o.conrelid JOIN pg_class r ON r.oid = o.confrelid "
    "WHERE t.relnamespace = $1::regnamespace AND o.contype = 'f' AND o.conparentid = 0 "
    "ORDER BY t.relname, o.conname";

// With the command that turns it off, or on in another way, if somebody did that.
constexpr std::string_view triggers_of_home =
    "SELECT t.relname, g.tgname, pg_get_triggerdef(g.oid, true) || CASE g.tgenabled WHEN 'O' THEN "
    "'' "
    "ELSE format('; ALTER TABLE %I %s TRIGGER %I', t.relname, CASE g.tgenabled WHEN 'D' THEN "
    "'DISABLE' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'ENABLE ALWAYS' END, g.tgname) END, "
    "g.tgenabled <> 'D' AND t.relkind IN ('r', 'p'), '' FROM pg_trigger g "
    "JOIN pg_class t ON t.oid = g.tgrelid WHERE t.relnamespace = $1::regnamespace "
    "AND NOT g.tgisinternal AND g.tgparentid = 0 AND g.tgname NOT LIKE 'ringshard\\_%' "
    "ORDER BY t.relname, g.tgname";

// In one message: it is asked for under the lock of a cutover.
const std::string& all_definitions() {
  static const std::string sql = [] {
    std::string text;
    for (std::size_t i = 0; i < definitions_of_home.size(); ++i)
      text += std::string(i > 0 ? " UNION ALL " : "") + "SELECT " + std::to_string(i) +
              " AS query, row_number() OVER () AS position, name::text, table_name::text, "
              "statement FROM (" +
              std::string(definitions_of_home[i].sql) + ") AS q" + std::to_string(i) +
              " (name, table_name, statement)";
    return "SELECT query, name, table_name, statement FROM (" + text +
           ") AS definitions ORDER BY query, position";
  }();
  return sql;
}

std::vector<Parked> parked_like(PostgresSession& session, std::string_view query) {
  std::vector<Parked> found;
  session.for_each(query, {std::string_view(schema_of(session))}, [&found](RowView row) {
    found.push_back(
        {text_of(row[0]), text_of(row[1]), text_of(row[2]), std::get<std::int64_t>(row[3]) != 0});
    return true;
  });
  return found;
}

// Types whose text is the same whatever the session's settings are.
bool has_one_text(std::string_view type, std::string_view kind) {
  static const std::set<std::string_view> types{"int2",   "int4", "int8",    "text",    "varchar",
                                                "bpchar", "uuid", "bool",    "numeric", "name",
                                                "inet",   "cidr", "macaddr", "citext"};
  return kind == "e" || types.contains(type);
}

}  // namespace

std::string text_of(const ValueView& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string() : std::string(*text);
}

std::string schema_of(const PostgresSession& session) {
  if (!session.home())
    throw Error(ErrorCode::internal, "a session in no home was asked for the tables of one");
  return quoted(session.home()->str());
}

bool is_reserved(std::string_view name) noexcept { return name.substr(0, 10) == "ringshard_"; }

KnownSchema read_tables(PostgresSession& session) {
  KnownSchema known;
  const std::string schema = schema_of(session);
  const ValueView name = std::string_view(schema);
  std::map<std::int64_t, std::size_t> by_oid;
  session.for_each(tables_of_home, {name}, [&](RowView row) {
    by_oid[std::get<std::int64_t>(row[0])] = known.schema.tables.size();
    known.schema.tables.emplace_back().name = text_of(row[1]);
    return true;
  });
  const auto table_of = [&](const ValueView& oid) -> Table* {
    const auto found = by_oid.find(std::get<std::int64_t>(oid));
    return found == by_oid.end() ? nullptr : &known.schema.tables[found->second];
  };
  session.for_each(columns_of_home, {name}, [&](RowView row) {
    Table* table = table_of(row[0]);
    if (table == nullptr || !text_of(row[4]).empty()) return true;  // generated: left to the target
    table->columns.push_back(text_of(row[1]));
    table->kinds.push_back(column_kind_of(static_cast<unsigned>(std::get<std::int64_t>(row[6]))));
    known.tables[table->name].column_types.push_back(text_of(row[3]));
    if (text_of(row[5]) == "a") table->fixed_columns.push_back(text_of(row[1]));
    return true;
  });
  std::int64_t index = 0;
  session.for_each(unique_indexes_of_home, {name}, [&](RowView row) {
    Table* table = table_of(row[0]);
    if (table == nullptr) return true;
    KnownTable& more = known.tables[table->name];
    const bool first = index != std::get<std::int64_t>(row[1]);
    index = std::get<std::int64_t>(row[1]);
    if (std::get<std::int64_t>(row[2]) != 0) {
      const std::string column = text_of(row[3]);
      const auto at = std::find(table->columns.begin(), table->columns.end(), column);
      table->key.push_back(column);
      table->key_positions.push_back(static_cast<std::size_t>(at - table->columns.begin()));
      table->key_collations.push_back(text_of(row[4]));
      const auto type = std::get<std::int64_t>(row[10]);
      more.key_kinds.push_back(kind_of(static_cast<unsigned>(type)));
      more.key_types.push_back(text_of(row[11]));
      if (!has_one_text(text_of(row[8]), text_of(row[9]))) more.key_text_depends_on_settings = true;
      return true;
    }
    if (first) {
      table->unique_keys.emplace_back();
      more.unique_keys.emplace_back();
      more.unique_keys.back().predicate = text_of(row[6]);
      more.unique_keys.back().nulls_are_equal = std::get<std::int64_t>(row[7]) != 0;
    }
    const bool is_plain = text_of(row[6]).empty() && !more.unique_keys.back().nulls_are_equal &&
                          !text_of(row[3]).empty() && std::get<std::int64_t>(row[12]) == 0;
    if (!is_plain) table->has_special_unique_keys = true;
    table->unique_keys.back().push_back(text_of(row[3]));
    more.unique_keys.back().expressions.push_back(text_of(row[5]));
    return true;
  });
  return known;
}

std::vector<Parked> foreign_keys(PostgresSession& session) {
  return parked_like(session, foreign_keys_of_home);
}

std::vector<Parked> triggers(PostgresSession& session) {
  return parked_like(session, triggers_of_home);
}

std::vector<SchemaObject> read_definitions(PostgresSession& session) {
  const std::string schema = schema_of(session);
  const ValueView name = std::string_view(schema);
  std::vector<SchemaObject> definitions;
  const auto add = [&](ObjectKind kind, std::string_view query) {
    session.for_each(query, {name}, [&](RowView row) {
      definitions.push_back({kind, text_of(row[0]), text_of(row[1]), text_of(row[2])});
      return true;
    });
  };
  session.for_each(all_definitions(), {name}, [&](RowView row) {
    const auto kind =
        definitions_of_home[static_cast<std::size_t>(std::get<std::int64_t>(row[0]))].kind;
    definitions.push_back({kind, text_of(row[1]), text_of(row[2]), text_of(row[3])});
    return true;
  });
  // What was parked is as the application made it, the rest as it is.
  using Name = std::pair<std::string, std::string>;
  std::map<Name, SchemaObject> keys;
  std::map<Name, SchemaObject> own_triggers;
  for (const Parked& key : foreign_keys(session))
    keys[{key.table, key.name}] = {ObjectKind::foreign_key, key.name, key.table, key.statement,
                                   key.parent};
  for (const Parked& trigger : triggers(session))
    own_triggers[{trigger.table, trigger.name}] = {ObjectKind::trigger, trigger.name, trigger.table,
                                                   trigger.statement};
  const bool parks = session.integer(
                         "SELECT count(*) FROM pg_class WHERE relnamespace = "
                         "$1::regnamespace AND relname = 'ringshard_parked'",
                         {name}) > 0;
  if (parks)
    session.for_each(
        "SELECT kind = 'trigger', table_name, name, statement FROM " + schema + ".ringshard_parked",
        {}, [&](RowView row) {
          const bool trigger = std::get<std::int64_t>(row[0]) != 0;
          SchemaObject& object =
              (trigger ? own_triggers : keys)[{text_of(row[1]), text_of(row[2])}];
          object.kind = trigger ? ObjectKind::trigger : ObjectKind::foreign_key;
          object.table = text_of(row[1]);
          object.name = text_of(row[2]);
          object.statement = text_of(row[3]);
          return true;
        });
  for (auto& [key, definition] : keys) definitions.push_back(std::move(definition));
  add(ObjectKind::view, views_of_home);
  for (auto& [key, definition] : own_triggers) definitions.push_back(std::move(definition));
  return definitions;
}

std::vector<std::string> read_statements(PostgresSession& session) {
  std::vector<std::string> statements;
  for (SchemaObject& definition : read_definitions(session))
    statements.push_back(std::move(definition.statement));
  return statements;
}

std::vector<Obstacle> find_obstacles(PostgresSession& session, const HomeSchema& schema) {
  std::vector<Obstacle> obstacles;
  const std::string home = schema_of(session);
  const ValueView name = std::string_view(home);
  const auto add = [&](std::string_view query, const std::string& reason) {
    session.for_each(query, {name}, [&](RowView row) {
      obstacles.push_back({text_of(row[0]), reason});
      return true;
    });
  };
  add("SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace "
      "AND c.relname LIKE 'ringshard\\_%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relname "
      "NOT IN ('ringshard_home', 'ringshard_change_log', 'ringshard_checkpoint', "
      "'ringshard_parked') AND c.relname !~ '^ringshard_applied_[0-9a-f]{16}$' ORDER BY c.relname",
      "names that begin with ringshard_ are the library's own: rename it");
  for (const Table& table : schema.tables) {
    if (table.key.empty())
      obstacles.push_back(
          {table.name, "has no primary key, by which its rows could be told apart"});
    else if (table.key.size() > key_columns_max)
      obstacles.push_back({table.name, "has a primary key of " + std::to_string(table.key.size()) +
                                           " columns, and a change can be noted for " +
                                           std::to_string(key_columns_max)});
  }
  add("SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN "
      "('r', 'p') AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY 1",
      "does not belong to the role of the DSN, which can make no trigger on it then: ALTER TABLE … "
      "OWNER TO that role, or GRANT it the owner's");
  add("SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN "
      "('r', 'p') AND (c.relrowsecurity OR c.relforcerowsecurity OR EXISTS (SELECT FROM pg_policy "
      "p "
      "WHERE p.polrelid = c.oid)) ORDER BY 1",
      "has row level security, which is not taken along, and may hide rows from the role of the "
      "DSN: "
      "drop its policies and disable it for the time of the move");
  add("SELECT DISTINCT c.relname || '.' || a.attname FROM pg_index i JOIN pg_class c ON c.oid = "
      "i.indrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey::int[]) "
      "JOIN pg_type t ON t.oid = a.atttypid WHERE c.relnamespace = $1::regnamespace AND "
      "i.indisprimary AND t.typtype IN ('c', 'p') ORDER BY 1",
      "is of a composite type and part of a primary key, by which no row can be looked up: use its "
      "parts as columns");
  add("SELECT nspname FROM pg_namespace WHERE oid = $1::regnamespace AND NOT "
      "has_schema_privilege(oid, 'CREATE')",
      "is a schema in which the role of the DSN may make nothing: GRANT CREATE ON SCHEMA … TO it");
  add("SELECT t.relname || '.' || o.conname FROM pg_constraint o JOIN pg_class t ON t.oid = "
      "o.conrelid WHERE t.relnamespace = $1::regnamespace AND o.contype = 'x' ORDER BY 1",
      "is an exclusion constraint, whose values can not change hands while rows are applied one by "
      "one: drop it for the time of the move");
  add("SELECT t.relname || '.' || o.conname FROM pg_constraint o JOIN pg_class t ON t.oid = "
      "o.conrelid WHERE t.relnamespace = $1::regnamespace AND o.contype = 'p' AND o.condeferrable "
      "ORDER BY 1",
      "is a deferrable primary key, which no row can be written against: make it not deferrable");
  add("SELECT t.relname || '.' || o.conname FROM pg_constraint o JOIN pg_class t ON t.oid = "
      "o.conrelid JOIN pg_class r ON r.oid = o.confrelid WHERE t.relnamespace = $1::regnamespace "
      "AND o.contype = 'f' AND r.relnamespace <> t.relnamespace ORDER BY 1",
      "is a foreign key that leaves the home, and what it points to does not move: drop it");
  add("SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind = "
      "'f' "
      "ORDER BY 1",
      "is a foreign table, whose rows are elsewhere: drop it in this home");
  add("SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE "
      "c.relnamespace = $1::regnamespace AND NOT c.relispartition AND c.relkind = 'r' ORDER BY 1",
      "inherits from another table otherwise than as a partition: rows of both would be mixed up");
  return obstacles;
}

}  // namespace ringshard::postgres
