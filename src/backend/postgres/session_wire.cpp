#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <ringshard/error.hpp>

#include "backend/postgres/errors.hpp"
#include "backend/postgres/session.hpp"
#include "backend/postgres/session_parts.hpp"
#include "backend/postgres/values.hpp"

namespace ringshard::postgres {

void PostgresSession::lose(ErrorCode code, const std::string& what) {
  usable_ = false;
  const bool unknown = committing_ && mode_ != TxMode::read;
  const std::string where = place();
  end_transaction();
  throw Error(unknown ? ErrorCode::outcome_unknown : code,
              where + ": " + what + (unknown ? " during COMMIT: it may have happened or not" : ""));
}

void PostgresSession::fail(const PGresult* result, std::string_view sql) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const bool lost = PQstatus(connection_.handle()) == CONNECTION_BAD;
  if (state == nullptr || (lost && committing_))
    lose(ErrorCode::unavailable, "the connection was lost");
  Error error = translate(result, place(), sql, mode_ == TxMode::read);
  if (lost || ends_session(error.code())) {
    usable_ = false;
    end_transaction();
  }
  throw error;
}

void PostgresSession::require_sent(bool sent) {
  if (!sent) lose(ErrorCode::unavailable, "the connection was lost");
}

// False once the server has taken longer than it may.
bool PostgresSession::wait_for_server() {
  PGconn* connection = connection_.handle();
  const int unsent = PQflush(connection);
  require_sent(unsent >= 0);
  int wait_ms = -1;
  if (statement_deadline_.limited()) {
    const auto left = statement_deadline_.at() + answer_grace - clock_.now();
    if (left <= Duration::zero()) return false;
    wait_ms = static_cast<int>(
        std::min<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 60'000));
  }
  pollfd socket{PQsocket(connection), static_cast<short>(POLLIN | (unsent > 0 ? POLLOUT : 0)), 0};
  if (::poll(&socket, 1, wait_ms) < 0 && errno != EINTR)
    lose(ErrorCode::unavailable, "waiting for the server failed");
  require_sent(PQconsumeInput(connection) != 0);
  return true;
}

// All results of what was sent; the last one, or the first that failed.
ResultHandle PostgresSession::wait() {
  PGconn* connection = connection_.handle();
  ResultHandle last;
  for (;;) {
    while (PQisBusy(connection) != 0)
      if (!wait_for_server()) lose(ErrorCode::timeout, "the server does not answer");
    ResultHandle next(PQgetResult(connection));
    if (!next) return last;
    const bool had_failed = last && PQresultStatus(last.get()) == PGRES_FATAL_ERROR;
    const ExecStatusType status = PQresultStatus(next.get());
    if (!had_failed) last = std::move(next);
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH)
      return last;
  }
}

ResultHandle PostgresSession::message(const std::string& sql) {
  require_sent(PQsendQuery(connection_.handle(), sql.c_str()) != 0);
  ResultHandle result = wait();
  if (!result || PQresultStatus(result.get()) == PGRES_FATAL_ERROR) fail(result.get(), sql);
  return result;
}

ResultHandle PostgresSession::message_survivable(const std::string& sql) {
  is_survivable_ = true;
  return message("SAVEPOINT ringshard_survive; " + std::string(pinned_settings) + sql);
}

bool PostgresSession::recover() noexcept {
  if (!mode_ || !usable_) return false;
  if (PQtransactionStatus(connection_.handle()) == PQTRANS_INTRANS) return true;
  if (!is_survivable_) return false;
  try {
    message("ROLLBACK TO SAVEPOINT ringshard_survive");
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

ResultHandle PostgresSession::run(std::string_view sql, std::span<const ValueView> parameters) {
  const Parameters own(parameters);
  if (!deadline_is_sent_) send_deadline();
  const std::string text(sql);
  require_sent(PQsendQueryParams(connection_.handle(), text.c_str(), own.size(), own.types(),
                                 own.values(), own.lengths(), own.formats(), 0) != 0);
  ResultHandle result = wait();
  const ExecStatusType status = result ? PQresultStatus(result.get()) : PGRES_FATAL_ERROR;
  if (status == PGRES_FATAL_ERROR) fail(result.get(), sql);
  if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT) {
    // Nobody would take or give the rows.
    if (status == PGRES_COPY_IN) PQputCopyEnd(connection_.handle(), "not through ringshard");
    lose(ErrorCode::refused, "COPY FROM STDIN and COPY TO STDOUT do not go through a statement");
  }
  return result;
}

void PostgresSession::copy_in(const std::string& statement, const std::string& rows) {
  if (!deadline_is_sent_) send_deadline();
  PGconn* connection = connection_.handle();
  require_sent(PQsendQuery(connection, statement.c_str()) != 0);
  ResultHandle ready = wait();
  if (!ready || PQresultStatus(ready.get()) != PGRES_COPY_IN) fail(ready.get(), statement);
  constexpr std::size_t piece = std::size_t{1} << 20U;
  for (std::size_t at = 0; at < rows.size(); at += piece) {
    const std::size_t size = std::min(piece, rows.size() - at);
    require_sent(PQputCopyData(connection, rows.data() + at, static_cast<int>(size)) > 0);
  }
  require_sent(PQputCopyEnd(connection, nullptr) > 0);
  ResultHandle done = wait();
  if (!done || PQresultStatus(done.get()) == PGRES_FATAL_ERROR) fail(done.get(), statement);
}

}  // namespace ringshard::postgres
