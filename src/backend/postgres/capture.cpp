#include "backend/postgres/capture.hpp"

#include <algorithm>
#include <ringshard/error.hpp>
#include <set>

#include "backend/home_store.hpp"
#include "backend/postgres/locks.hpp"
#include "backend/sql_template.hpp"
#include "core/row_hash.hpp"
#include "schemas/sql.hpp"

namespace ringshard::postgres {

namespace {

// A function that runs with these has the same text for a value as every session of ringshard's.
constexpr std::string_view text_settings =
    "SET datestyle TO 'ISO, MDY' SET intervalstyle TO postgres SET timezone TO 'UTC' "
    "SET extra_float_digits TO 1 SET bytea_output TO hex";

std::string column(std::size_t i) { return "k" + std::to_string(i); }

std::string key_texts(const Table& table, std::string_view row) {
  return joined(table.key.size(), ", ", [&](std::size_t i) {
    return std::string(row) + "." + quoted(table.key[i]) + "::text";
  });
}

std::string id_of(const Table& table) { return core::hex16(core::hash_text(table.name)); }

std::set<std::string> tables_with_trigger(PostgresSession& session, std::string_view trigger) {
  std::set<std::string> tables;
  session.for_each(
      "SELECT t.relname FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid WHERE "
      "t.relnamespace = $1::regnamespace AND g.tgname = $2 AND g.tgenabled = 'A' AND g.tgparentid "
      "= 0",
      {std::string_view(schema_of(session)), trigger}, [&tables](RowView row) {
        tables.insert(text_of(row[0]));
        return true;
      });
  return tables;
}

std::string table_script(const std::string& home, const Table& table, const KnownTable& known) {
  Replacements names;
  names["home"] = home;
  names["id"] = id_of(table);
  names["table"] = quoted(table.name);
  names["table_text"] = literal(table.name);
  names["applied"] = applied_table_name(table.name);
  names["settings"] = known.key_text_depends_on_settings ? text_settings : "";
  names["key_columns"] = joined(table.key.size(), ", ", column);
  names["typed_key"] = joined(table.key.size(), ", ", [&](std::size_t i) {
    return quoted(table.key[i]) + " AS " + column(i);
  });
  names["key_changed"] = joined(table.key.size(), " OR ", [&](std::size_t i) {
    return "OLD." + quoted(table.key[i]) + " IS DISTINCT FROM NEW." + quoted(table.key[i]);
  });
  names["old_key"] = key_texts(table, "OLD");
  names["new_key"] = key_texts(table, "NEW");
  return fill_in(schemas::home_postgres_capture_table, names);
}

std::string trigger_script(const std::string& home, const Table& table) {
  const Replacements names{{"home", home}, {"id", id_of(table)}, {"table", quoted(table.name)}};
  return fill_in(schemas::home_postgres_capture_triggers, names) +
         fill_in(schemas::home_postgres_capture_truncate, names);
}

// A TRUNCATE of a partition does not meet the trigger of its table.
constexpr std::string_view unguarded_partitions =
    "SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relkind IN "
    "('r', "
    "'p') AND c.relispartition AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid "
    "AND "
    "g.tgname = 'ringshard_no_truncate' AND g.tgenabled = 'A')";

// Also where session_replication_role says that triggers do not fire, on partitions too.
void enable_always(PostgresSession& session) {
  std::string script;
  session.for_each(
      "SELECT format('ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %I;', t.oid::regclass, g.tgname) "
      "FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid WHERE t.relnamespace = "
      "$1::regnamespace AND g.tgname IN ('ringshard_log', 'ringshard_no_truncate') AND g.tgenabled "
      "<> 'A'",
      {std::string_view(schema_of(session))}, [&script](RowView row) {
        script += text_of(row[0]);
        return true;
      });
  if (!script.empty()) session.run_script(script);
}

void guard_partitions(PostgresSession& session) {
  const std::string home = schema_of(session);
  std::string script;
  session.for_each(unguarded_partitions, {std::string_view(home)}, [&](RowView row) {
    script += fill_in(schemas::home_postgres_capture_truncate,
                      {{"home", home}, {"table", quoted(text_of(row[0]))}});
    return true;
  });
  if (!script.empty()) session.run_script(script);
}

bool is_mirror(PostgresSession& session) {
  return session.integer("SELECT count(*) FROM " + schema_of(session) +
                         ".ringshard_home WHERE role = 'mirror'") > 0;
}

void remember(PostgresSession& session, std::string_view kind, const Parked& object,
              std::string_view state) {
  session.execute("INSERT INTO " + schema_of(session) +
                      ".ringshard_parked VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
                  {kind, std::string_view(object.table), std::string_view(object.name),
                   std::string_view(object.statement), state});
}

std::string alter(PostgresSession& session, const std::string& table, const std::string& change) {
  return "ALTER TABLE " + schema_of(session) + "." + quoted(table) + " " + change + ";";
}

// Of a home that is a mirror and that nobody uses yet.
void park_foreign_keys(PostgresSession& session) {
  for (const Parked& key : foreign_keys(session)) {
    remember(session, "foreign key", key, "dropped");
    session.run_script(alter(session, key.table, "DROP CONSTRAINT " + quoted(key.name)));
  }
}

// Checked at COMMIT, where a session asks for that: as a mirror this home is given a child before
// its parent.
void defer_foreign_keys(PostgresSession& session) {
  for (const Parked& key : foreign_keys(session)) {
    if (key.flag) continue;
    remember(session, "foreign key", key, "deferred");
    session.run_script(
        alter(session, key.table,
              "ALTER CONSTRAINT " + quoted(key.name) + " DEFERRABLE INITIALLY IMMEDIATE"));
  }
}

std::string undefer_script(PostgresSession& session) {
  std::string script;
  session.for_each("SELECT table_name, name FROM " + schema_of(session) +
                       ".ringshard_parked WHERE state = 'deferred'",
                   {}, [&](RowView row) {
                     script +=
                         alter(session, text_of(row[0]),
                               "ALTER CONSTRAINT " + quoted(text_of(row[1])) + " NOT DEFERRABLE");
                     return true;
                   });
  return script;
}

}  // namespace

void silence_triggers(PostgresSession& session) {
  std::string script;
  for (const Parked& trigger : triggers(session)) {
    if (!trigger.flag) continue;
    remember(session, "trigger", trigger, "silent");
    script += alter(session, trigger.table, "DISABLE TRIGGER " + quoted(trigger.name));
  }
  if (!script.empty()) session.run_script(script);
}

void unpark(PostgresSession& session) {
  const std::string parked = schema_of(session) + ".ringshard_parked";
  std::string script;
  session.for_each("SELECT statement FROM " + parked + " WHERE state = 'dropped' ORDER BY name", {},
                   [&script](RowView row) {
                     // Looking at every row would take long, and writers wait for this.
                     const std::string statement = text_of(row[0]);
                     constexpr std::string_view unchecked = " NOT VALID";
                     script +=
                         statement + (statement.ends_with(unchecked) ? "" : unchecked.data()) + ";";
                     return true;
                   });
  if (!script.empty())
    script += "UPDATE " + parked + " SET state = 'unchecked' WHERE state = 'dropped';";
  session.for_each("SELECT table_name, name, statement FROM " + parked + " WHERE state = 'silent'",
                   {}, [&](RowView row) {
                     const std::string statement = text_of(row[2]);
                     const char* how =
                         statement.find("; ALTER TABLE ") == std::string::npos ? "ENABLE TRIGGER "
                         : statement.find(" ENABLE REPLICA TRIGGER ") != std::string::npos
                             ? "ENABLE REPLICA TRIGGER "
                             : "ENABLE ALWAYS TRIGGER ";
                     script += alter(session, text_of(row[0]), how + quoted(text_of(row[1])));
                     return true;
                   });
  script += "DELETE FROM " + parked + " WHERE state = 'silent';";
  session.run_script(script);
}

void check_foreign_keys(PostgresSession& session) {
  if (!has_capture(session)) return;
  const std::string parked = schema_of(session) + ".ringshard_parked";
  std::string script;
  session.for_each("SELECT table_name, name FROM " + parked +
                       " WHERE state = 'unchecked' AND statement NOT LIKE '% NOT VALID'",
                   {}, [&](RowView row) {
                     script += alter(session, text_of(row[0]),
                                     "VALIDATE CONSTRAINT " + quoted(text_of(row[1])));
                     return true;
                   });
  if (!script.empty()) session.run_script(script);
}

void install_capture(PostgresSession& session, const HomeSchema& schema) {
  const std::string home = schema_of(session);
  const KnownSchema known = read_tables(session);
  std::size_t width = 1;
  for (const Table& table : schema.tables) {
    if (table.key.empty())
      throw Error(ErrorCode::schema, "table " + table.name + " has no primary key");
    width = std::max(width, table.key.size());
  }
  const auto typed = [](std::size_t i) { return column(i) + " TEXT"; };
  session.run_script(
      fill_in(schemas::home_postgres_capture, {{"home", home},
                                               {"key_columns", joined(width, ", ", typed)},
                                               {"lock", lock_call(*session.home(), true)}}));
  std::string script;
  for (std::size_t i = 0; i < width; ++i)
    script +=
        "ALTER TABLE " + home + ".ringshard_change_log ADD COLUMN IF NOT EXISTS " + typed(i) + ";";
  const std::set<std::string> captured = tables_with_trigger(session, "ringshard_log");
  for (const Table& table : schema.tables) {
    const auto more = known.tables.find(table.name);
    if (more == known.tables.end())
      throw Error(ErrorCode::schema, "table " + table.name + " is not there any more");
    script += table_script(home, table, more->second);
    // Making a trigger waits for the writers of the table, dropping one for its readers too.
    if (!captured.contains(table.name)) script += trigger_script(home, table);
  }
  session.run_script(script);
  guard_partitions(session);
  enable_always(session);
  if (is_mirror(session)) {
    park_foreign_keys(session);
    silence_triggers(session);
  } else {
    defer_foreign_keys(session);
  }
}

void remove_capture(PostgresSession& session) {
  const std::string home = schema_of(session);
  const ValueView name = std::string_view(home);
  if (!has_capture(session)) return;
  std::string script = undefer_script(session);
  const auto add = [&](std::string_view query) {
    session.for_each(query, {name}, [&script](RowView row) {
      script += text_of(row[0]) + ";";
      return true;
    });
  };
  add("SELECT format('DROP TRIGGER %I ON %s.%I', g.tgname, t.relnamespace::regnamespace, "
      "t.relname) FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid WHERE t.relnamespace = "
      "$1::regnamespace AND g.tgname IN ('ringshard_log', 'ringshard_no_truncate') AND "
      "g.tgparentid = 0");
  add("SELECT format('DROP TABLE %s', c.oid::regclass) FROM pg_class c WHERE c.relnamespace = "
      "$1::regnamespace AND c.relkind = 'r' AND (c.relname ~ '^ringshard_applied_[0-9a-f]{16}$' OR "
      "c.relname IN ('ringshard_change_log', 'ringshard_checkpoint', 'ringshard_parked'))");
  add("SELECT format('DROP FUNCTION %s', p.oid::regprocedure) FROM pg_proc p WHERE p.pronamespace "
      "= $1::regnamespace AND (p.proname ~ '^ringshard_log_[0-9a-f]{16}$' OR p.proname IN "
      "('ringshard_owner', 'ringshard_no_truncate'))");
  if (!script.empty()) session.run_script(script);
}

bool has_capture(PostgresSession& session) {
  return session.integer(
             "SELECT count(*) FROM pg_class WHERE relnamespace = $1::regnamespace AND relname = "
             "'ringshard_change_log'",
             {std::string_view(schema_of(session))}) > 0;
}

std::optional<std::string> capture_gap(PostgresSession& session, const HomeSchema& schema) {
  for (const char* trigger : {"ringshard_log", "ringshard_no_truncate"}) {
    const std::set<std::string> tables = tables_with_trigger(session, trigger);
    for (const Table& table : schema.tables)
      if (!tables.contains(table.name)) return table.name;
  }
  std::optional<std::string> gap;
  session.for_each(unguarded_partitions, {std::string_view(schema_of(session))},
                   [&gap](RowView row) {
                     gap = text_of(row[0]);
                     return false;
                   });
  return gap;
}

}  // namespace ringshard::postgres
