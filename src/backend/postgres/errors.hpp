#pragma once

#include <ringshard/error.hpp>
#include <string>
#include <string_view>

struct pg_result;

namespace ringshard::postgres {

/// What ringshard's own functions in a home raise.
inline constexpr std::string_view sqlstate_not_owner = "RS001";
inline constexpr std::string_view sqlstate_read_only = "RS002";
inline constexpr std::string_view sqlstate_refused = "RS003";

/// The code that stands for an SQLSTATE; `in_read_transaction`: the transaction itself may not
/// write, so a refused write says nothing about the server.
ErrorCode code_of(std::string_view sqlstate, bool in_read_transaction) noexcept;

/// What the server said of a failed statement. `place` names the home and the database.
Error translate(const pg_result* result, const std::string& place, std::string_view sql,
                bool in_read_transaction);

/// A server that does not keep its word about this connection any more: nothing of it may be used.
bool ends_session(ErrorCode code) noexcept;

}  // namespace ringshard::postgres
