#pragma once

#include <optional>
#include <string>

#include "backend/postgres/schema_reader.hpp"
#include "core/schema.hpp"

namespace ringshard::postgres {

// See Dialect for what these promise.

void install_capture(PostgresSession& session, const HomeSchema& schema);
void remove_capture(PostgresSession& session);
bool has_capture(PostgresSession& session);
std::optional<std::string> capture_gap(PostgresSession& session, const HomeSchema& schema);

/// The mirror has become the owner: its foreign keys are made again, for rows that are written from
/// now on, and its triggers fire again.
void unpark(PostgresSession& session);

/// Looks at the rows that were there before their foreign keys were made again. Writers go on.
void check_foreign_keys(PostgresSession& session);

/// The owner is about to become a mirror: its triggers do not fire any more.
void silence_triggers(PostgresSession& session);

}  // namespace ringshard::postgres
