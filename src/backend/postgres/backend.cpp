#include <algorithm>
#include <mutex>
#include <ringshard/error.hpp>
#include <string>
#include <type_traits>

#include "backend/factories.hpp"
#include "backend/home_row.hpp"
#include "backend/home_store.hpp"
#include "backend/postgres/dialect.hpp"
#include "backend/postgres/facts.hpp"
#include "backend/postgres/locks.hpp"
#include "backend/postgres/schema_reader.hpp"
#include "backend/postgres/session.hpp"
#include "backend/sql_template.hpp"
#include "schemas/sql.hpp"

namespace ringshard {

namespace postgres {

namespace {

class PostgresBackend final : public Backend {
 public:
  PostgresBackend(std::string dsn, Clock& clock)
      : dsn_(std::move(dsn)), place_(place_of(dsn_)), clock_(clock) {}

  const Dialect& dialect() const noexcept override { return dialect_; }

  std::unique_ptr<Session> connect(const HomeName& home, SessionUse use) override {
    return session(home, use);
  }

  // A session works in every home of its node.
  std::string session_key(const HomeName&) const override { return {}; }

  void check_node() override {
    const std::int64_t may_create = on_node([](Session& at) {
      return at.integer("SELECT has_database_privilege(current_database(), 'CREATE')::int");
    });
    if (may_create == 0)
      throw Error(ErrorCode::read_only,
                  place_ + ": this role may not make schemas: GRANT CREATE ON DATABASE … TO it");
  }
  void prepare_node() override { check_node(); }
  void ping() override {
    on_node([](Session& at) { return at.integer("SELECT 1"); });
  }
  NodeFacts facts() override { return on_node(read_facts); }
  std::string identity() override { return on_node(read_identity); }

  bool home_exists(const HomeName& home) override {
    return on_node([&home](Session& at) { return exists(at, home); });
  }

  void create_home(const HomeName& home, const std::optional<HomeRecord>& record,
                   const HomeSchema& schema) override {
    const auto at = session(home, SessionUse::maintenance);
    SessionTransaction tx(*at, TxMode::write, Deadline());
    if (exists(*at, home))
      throw Error(ErrorCode::already_exists, "home " + home.str() + " exists in " + place_);
    const std::string name = quoted(home.str());
    std::string script = "CREATE SCHEMA " + name + ";";
    if (record) script += fill_in(schemas::home_postgres_create, {{"home", name}});
    at->run_script(script);
    at->run_script("SET LOCAL check_function_bodies TO off");
    for (const std::string& statement : schema.statements) at->run_script(statement);
    if (record) at->execute(home_record_insert(), home_record_values(*record));
    if (!home.shard) guard_reference(*at, name);
    tx.commit();
  }

  void drop_home(const HomeName& home) override {
    const auto at = session(home, SessionUse::maintenance);
    SessionTransaction tx(*at, TxMode::write, Deadline());
    drop(*at, home);
    tx.commit();
  }

  bool drop_home_if(const HomeName& home,
                    const std::function<bool(const std::optional<HomeRecord>&)>& may_go,
                    Deadline lock_deadline) override {
    const auto at = session(home, SessionUse::maintenance);
    SessionTransaction tx(*at, home, TxMode::exclusive, lock_deadline);
    if (!exists(*at, home)) return true;
    if (!may_go(tx.record())) return false;
    drop(*at, home);
    tx.commit();
    return true;
  }

  std::vector<HomeName> homes(std::string_view keyspace) override {
    const std::string start = std::string(keyspace) + "_";
    std::vector<HomeName> found = on_node([&](Session& at) {
      std::vector<HomeName> names;
      at.for_each("SELECT nspname FROM pg_namespace WHERE starts_with(nspname, $1)",
                  {std::string_view(start)}, [&](RowView row) {
                    if (auto home = home_of(keyspace, text_of(row[0]))) names.push_back(*home);
                    return true;
                  });
      return names;
    });
    std::sort(found.begin(), found.end(),
              [](const HomeName& left, const HomeName& right) { return left.shard < right.shard; });
    return found;
  }

  std::int64_t home_bytes(const HomeName& home) override {
    return on_node([&home](Session& at) {
      return at.integer(
          "SELECT COALESCE(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE "
          "relnamespace = $1::regnamespace AND relkind IN ('r', 'm')",
          {std::string_view(quoted(home.str()))});
    });
  }

 private:
  std::unique_ptr<PostgresSession> session(const std::optional<HomeName>& home, SessionUse use) {
    SessionSpec spec;
    spec.dsn = dsn_;
    spec.place = place_;
    spec.home = home;
    spec.search_path = "pg_catalog";
    spec.use = use;
    return std::make_unique<PostgresSession>(std::move(spec), clock_);
  }
  /// Runs what only reads of the node, in a session that is kept for the next time: making one
  /// takes the server longer than most of what is asked. One that has died meanwhile is replaced.
  template <class Function>
  std::invoke_result_t<const Function&, PostgresSession&> on_node(const Function& function) {
    std::unique_ptr<PostgresSession> kept;
    {
      const std::lock_guard lock(mutex_);
      kept = std::move(idle_);
    }
    const bool is_old = kept != nullptr;
    if (!is_old) kept = session(std::nullopt, SessionUse::application);
    try {
      return keep(std::move(kept), function);
    } catch (const Error& error) {
      if (!is_old || error.code() != ErrorCode::unavailable) throw;
    }
    return keep(session(std::nullopt, SessionUse::application), function);
  }

  template <class Function>
  std::invoke_result_t<const Function&, PostgresSession&> keep(
      std::unique_ptr<PostgresSession> used, const Function& function) {
    auto result = function(*used);
    const std::lock_guard lock(mutex_);
    if (used->usable()) idle_ = std::move(used);
    return result;
  }

  static bool exists(Session& at, const HomeName& home) {
    return at.integer("SELECT count(*) FROM pg_namespace WHERE nspname = $1",
                      {std::string_view(home.str())}) > 0;
  }

  static void drop(Session& at, const HomeName& home) {
    at.run_script("DROP SCHEMA IF EXISTS " + quoted(home.str()) + " CASCADE");
  }

  // Names of homes are made by HomeName::str(); a keyspace may hold underscores and digits itself.
  static std::optional<HomeName> home_of(std::string_view keyspace, const std::string& schema) {
    HomeName reference{std::string(keyspace), std::nullopt};
    if (schema == reference.str()) return reference;
    const std::string_view digits = std::string_view(schema).substr(keyspace.size() + 1);
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string_view::npos)
      return std::nullopt;
    HomeName home{std::string(keyspace),
                  ShardId{static_cast<std::uint32_t>(std::stoul(std::string(digits)))}};
    return home.str() == schema ? std::optional(home) : std::nullopt;
  }

  static void guard_reference(PostgresSession& at, const std::string& name) {
    std::string script = fill_in(schemas::home_postgres_reference, {{"home", name}});
    for (const Table& table : read_tables(at).schema.tables)
      script += fill_in(schemas::home_postgres_reference_table,
                        {{"home", name}, {"table", quoted(table.name)}});
    at.run_script(script);
  }

  const std::string dsn_;
  const std::string place_;
  Clock& clock_;
  const PostgresDialect dialect_;

  std::mutex mutex_;
  std::unique_ptr<PostgresSession> idle_;  // guarded by mutex_
};

constexpr std::string_view catalog_schema = "ringshard";

// libpq's form of a DSN that came without its scheme.
std::string dsn_of(std::string_view location) { return "postgresql:" + std::string(location); }

}  // namespace
}  // namespace postgres

std::unique_ptr<Backend> open_postgres_backend(std::string_view location, Clock& clock,
                                               const BackendOptions&) {
  return std::make_unique<postgres::PostgresBackend>(postgres::dsn_of(location), clock);
}

SourceDatabase open_postgres_source(std::string_view, Clock&) {
  throw Error(ErrorCode::refused, "import reads SQLite files; it can not read PostgreSQL yet");
}

std::unique_ptr<Session> connect_postgres_catalog(std::string_view location, Clock& clock,
                                                  bool create) {
  postgres::SessionSpec spec;
  spec.dsn = postgres::dsn_of(location);
  spec.place = "the catalog in " + postgres::place_of(spec.dsn);
  spec.search_path = quoted(postgres::catalog_schema);
  spec.is_catalog = true;
  auto session = std::make_unique<postgres::PostgresSession>(std::move(spec), clock);
  const bool there = session->integer(
                         "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname "
                         "= $1",
                         {postgres::catalog_schema}) > 0;
  if (!there && !create)
    throw Error(ErrorCode::not_found,
                "there is no catalog in " + postgres::place_of(postgres::dsn_of(location)) +
                    ": is it the right database, and was `ringshard init` run?");
  if (!there)
    session->run_script("CREATE SCHEMA IF NOT EXISTS " + quoted(postgres::catalog_schema));
  return session;
}

}  // namespace ringshard
