#pragma once

#include <optional>
#include <string>

#include "backend/session.hpp"
#include "core/schema.hpp"

namespace ringshard::sqlite {

// See Dialect: the triggers and tables of a home that is being moved.

void install_capture(Session& session, const HomeSchema& schema);
bool remove_capture(Session& session, std::int64_t rows_max);
bool has_capture(Session& session);
std::optional<std::string> capture_gap(Session& session, const HomeSchema& schema);

}  // namespace ringshard::sqlite
