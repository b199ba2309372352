#pragma once

#include <memory>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/source.hpp"

namespace ringshard {

// What each backend offers to the registry. A backend defines its functions in its own folder;
// nobody else calls them. `location` is the DSN without its scheme.

std::unique_ptr<Backend> open_sqlite_backend(std::string_view location, Clock& clock,
                                             const BackendOptions& options);
std::unique_ptr<Session> connect_sqlite_catalog(std::string_view location, Clock& clock,
                                                bool create);
std::unique_ptr<CatalogListener> listen_to_sqlite_catalog(std::string_view location, Clock& clock);
SourceDatabase open_sqlite_source(std::string_view location, Clock& clock);
const SchemaParts& sqlite_schema_parts();

std::unique_ptr<Backend> open_postgres_backend(std::string_view location, Clock& clock,
                                               const BackendOptions& options);
std::unique_ptr<Session> connect_postgres_catalog(std::string_view location, Clock& clock,
                                                  bool create);
std::unique_ptr<CatalogListener> listen_to_postgres_catalog(std::string_view location,
                                                            Clock& clock);
SourceDatabase open_postgres_source(std::string_view location, Clock& clock);
const SchemaParts& postgres_schema_parts();

}  // namespace ringshard
