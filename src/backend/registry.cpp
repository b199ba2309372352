#include <array>
#include <ringshard/error.hpp>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/factories.hpp"

namespace ringshard {

namespace {

struct Scheme {
  std::string_view name;
  std::string_view engine;
  std::unique_ptr<Backend> (*open)(std::string_view, Clock&, const BackendOptions&);
  std::unique_ptr<Session> (*connect_catalog)(std::string_view, Clock&, bool);
  std::unique_ptr<CatalogListener> (*listen)(std::string_view, Clock&);
  SourceDatabase (*open_source)(std::string_view, Clock&);
  const SchemaParts& (*schema_parts)();
};

constexpr std::array schemes{
    Scheme{"sqlite", "sqlite", open_sqlite_backend, connect_sqlite_catalog,
           listen_to_sqlite_catalog, open_sqlite_source, sqlite_schema_parts},
    Scheme{"postgres", "postgres", open_postgres_backend, connect_postgres_catalog,
           listen_to_postgres_catalog, open_postgres_source, postgres_schema_parts},
    Scheme{"postgresql", "postgres", open_postgres_backend, connect_postgres_catalog,
           listen_to_postgres_catalog, open_postgres_source, postgres_schema_parts}};

struct ParsedDsn {
  const Scheme& scheme;
  std::string_view location;
};

// A DSN may hold a password, so no message shows more of it than its scheme.
ParsedDsn parse_dsn(std::string_view dsn) {
  const std::size_t colon = dsn.find(':');
  const std::string_view name = colon == std::string_view::npos ? "" : dsn.substr(0, colon);
  for (const Scheme& scheme : schemes) {
    if (scheme.name != name) continue;
    const std::string_view location = dsn.substr(colon + 1);
    if (location.empty()) {
      throw Error(ErrorCode::invalid_argument, "the DSN \"" + std::string(dsn) +
                                                   "\" names no place: write \"sqlite:/a/path\" or "
                                                   "\"postgresql://user@host/database\"");
    }
    return {scheme, location};
  }
  throw Error(ErrorCode::invalid_argument,
              (name.empty() ? "a DSN has no scheme"
                            : "no backend for the DSN scheme \"" + std::string(name) + "\"") +
                  std::string(": write \"sqlite:/directory\" or \"postgresql://…\""));
}

}  // namespace

std::unique_ptr<Backend> open_backend(const std::string& dsn, Clock& clock,
                                      const BackendOptions& options) {
  const ParsedDsn parsed = parse_dsn(dsn);
  return parsed.scheme.open(parsed.location, clock, options);
}

std::string_view engine_of(const std::string& dsn) { return parse_dsn(dsn).scheme.engine; }

std::unique_ptr<CatalogListener> listen_to_catalog(const std::string& dsn, Clock& clock) {
  const ParsedDsn parsed = parse_dsn(dsn);
  return parsed.scheme.listen(parsed.location, clock);
}

std::unique_ptr<Session> connect_catalog(const std::string& dsn, Clock& clock, bool create) {
  const ParsedDsn parsed = parse_dsn(dsn);
  return parsed.scheme.connect_catalog(parsed.location, clock, create);
}

SourceDatabase open_source(const std::string& dsn, Clock& clock) {
  const ParsedDsn parsed = parse_dsn(dsn);
  return parsed.scheme.open_source(parsed.location, clock);
}

const SchemaParts& schema_parts_of(const std::string& dsn) {
  return parse_dsn(dsn).scheme.schema_parts();
}

}  // namespace ringshard
