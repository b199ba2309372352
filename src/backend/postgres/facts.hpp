#pragma once

#include "backend/backend.hpp"
#include "backend/postgres/session.hpp"

namespace ringshard::postgres {

/// See Backend::facts(). What an ordinary role may not see is left out.
NodeFacts read_facts(PostgresSession& session);

/// See Backend::identity(): the system's identifier and the timeline.
std::string read_identity(PostgresSession& session);

}  // namespace ringshard::postgres
