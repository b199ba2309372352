#include "backend/postgres/facts.hpp"

#include <string>
#include <string_view>

#include "backend/postgres/schema_reader.hpp"

namespace ringshard::postgres {

namespace {

// A promoted replica keeps the system's identifier and begins a timeline; a replica that follows
// has none of its own.
constexpr std::string_view identity_of_server =
    "SELECT (SELECT system_identifier::text FROM pg_control_system()) || '/' || CASE WHEN "
    "pg_is_in_recovery() THEN 'recovery' ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), "
    "8) "
    "END";

constexpr std::string_view collations_of_server =
    "SELECT c.collname, COALESCE(pg_collation_actual_version(c.oid), '') FROM pg_collation c "
    "UNION ALL SELECT '', concat_ws(' ', datcollate, to_jsonb(d) ->> 'datlocprovider', "
    "COALESCE(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale'), "
    "to_jsonb(d) ->> 'datcollversion', pg_encoding_to_char(encoding)) FROM pg_database d WHERE "
    "datname = current_database()";

constexpr std::string_view prepared_transactions =
    "SELECT gid, extract(epoch FROM now() - prepared)::bigint FROM pg_prepared_xacts WHERE "
    "database "
    "= current_database() ORDER BY prepared";

constexpr std::string_view open_transactions =
    "SELECT pid::bigint, COALESCE(usename, '?'), extract(epoch FROM now() - xact_start)::bigint "
    "FROM "
    "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND "
    "xact_start "
    "< now() - interval '1 minute' ORDER BY xact_start";

}  // namespace

std::string read_identity(PostgresSession& session) {
  return std::get<std::string>(session.rows(identity_of_server).at(0).at(0));
}

NodeFacts read_facts(PostgresSession& session) {
  NodeFacts facts;
  for (const Row& row : session.rows("SELECT current_setting('server_version'), "
                                     "current_setting('server_version_num')::bigint / 10000")) {
    facts.version = "PostgreSQL " + std::get<std::string>(row[0]);
    facts.major_version = std::get<std::int64_t>(row[1]);
  }
  session.for_each(collations_of_server, {}, [&facts](RowView row) {
    facts.collations[text_of(row[0])] = text_of(row[1]);
    return true;
  });
  session.for_each(prepared_transactions, {}, [&facts](RowView row) {
    facts.concerns.push_back({"prepared transaction '" + text_of(row[0]) + "'",
                              "is " + std::to_string(std::get<std::int64_t>(row[1])) +
                                  " s old and may hold locks that a move waits for: COMMIT "
                                  "PREPARED or ROLLBACK PREPARED"});
    return true;
  });
  session.for_each(open_transactions, {}, [&facts](RowView row) {
    facts.concerns.push_back(
        {"transaction of process " + std::to_string(std::get<std::int64_t>(row[0])) + " (" +
             text_of(row[1]) + ")",
         "has been open for " + std::to_string(std::get<std::int64_t>(row[2])) +
             " s: what it holds a move waits for; end it, or pg_terminate_backend()"});
    return true;
  });
  return facts;
}

}  // namespace ringshard::postgres
