#pragma once

#include <string_view>

namespace ringshard::postgres {

/// The first statement of a script, without its semicolon, and what follows it. Knows PostgreSQL's
/// quotes, dollar quotes and nested comments.
struct FirstStatement {
  std::string_view text;  ///< empty: nothing is left but space and comments
  std::string_view rest;
};
FirstStatement first_statement(std::string_view script) noexcept;

/// BEGIN, START, COMMIT, END, ABORT, ROLLBACK (not ROLLBACK TO) or PREPARE TRANSACTION.
bool controls_transaction(std::string_view statement) noexcept;

}  // namespace ringshard::postgres
