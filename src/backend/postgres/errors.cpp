#include "backend/postgres/errors.hpp"

#include <libpq-fe.h>

namespace ringshard::postgres {

namespace {

constexpr std::size_t sql_shown_max = 200;

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? "" : text;
}

bool starts_with(std::string_view text, std::string_view start) noexcept {
  return text.substr(0, start.size()) == start;
}

}  // namespace

ErrorCode code_of(std::string_view state, bool in_read_transaction) noexcept {
  struct Known {
    std::string_view begins;
    ErrorCode code;
  };
  // The first that fits: single codes before their class.
  static constexpr Known known[] = {
      {sqlstate_not_owner, ErrorCode::not_owner},
      {sqlstate_read_only, ErrorCode::read_only},
      {sqlstate_refused, ErrorCode::refused},
      {"08P01",
       ErrorCode::invalid_argument},  // another number of parameters than the statement has
      {"08", ErrorCode::unavailable},
      {"22021", ErrorCode::invalid_argument},  // no UTF-8
      {"23", ErrorCode::constraint},
      {"25P03", ErrorCode::unavailable},  // idle in a transaction for too long: it was ended
      {"25P04", ErrorCode::unavailable},  // a transaction that took too long
      {"28", ErrorCode::refused},
      {"3D000", ErrorCode::not_found},
      {"40001", ErrorCode::conflict},
      {"40P01", ErrorCode::conflict},
      {"40003", ErrorCode::outcome_unknown},
      {"42501", ErrorCode::read_only},  // no right to
      {"42P02", ErrorCode::invalid_argument},
      {"42P18", ErrorCode::invalid_argument},
      {"42P06", ErrorCode::already_exists},
      {"53100", ErrorCode::storage_full},
      {"53", ErrorCode::unavailable},
      {"55P03", ErrorCode::conflict},
      {"57014", ErrorCode::timeout},
      {"57P", ErrorCode::unavailable},
      {"58", ErrorCode::unavailable},
      {"XX001", ErrorCode::corrupt},
      {"XX002", ErrorCode::corrupt},
  };
  if (state == "25006") return in_read_transaction ? ErrorCode::refused : ErrorCode::read_only;
  for (const Known& entry : known)
    if (starts_with(state, entry.begins)) return entry.code;
  return ErrorCode::sql;
}

Error translate(const PGresult* result, const std::string& place, std::string_view sql,
                bool in_read_transaction) {
  const std::string state = field(result, PG_DIAG_SQLSTATE);
  std::string text = place + ": " + field(result, PG_DIAG_MESSAGE_PRIMARY);
  if (const std::string detail = field(result, PG_DIAG_MESSAGE_DETAIL); !detail.empty())
    text += " (" + detail + ")";
  if (const std::string hint = field(result, PG_DIAG_MESSAGE_HINT); !hint.empty())
    text += "; " + hint;
  const ErrorCode code = code_of(state, in_read_transaction);
  if (code == ErrorCode::sql && !sql.empty())
    text += ": " + std::string(sql.substr(0, sql_shown_max));
  return Error(code, text).with_sqlstate(state);
}

bool ends_session(ErrorCode code) noexcept {
  return code == ErrorCode::unavailable || code == ErrorCode::outcome_unknown ||
         code == ErrorCode::corrupt;
}

}  // namespace ringshard::postgres
