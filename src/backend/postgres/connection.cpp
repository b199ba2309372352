#include "backend/postgres/connection.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <optional>
#include <pqxx/pqxx>
#include <ringshard/error.hpp>
#include <utility>
#include <vector>

namespace ringshard::postgres {

namespace {

using Options = std::map<std::string, std::string>;

struct FreeOptions {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

// What a DSN says, by libpq's keywords.
Options parsed(const std::string& dsn) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options(
      PQconninfoParse(dsn.c_str(), &message));
  if (!options) {
    // The message may quote the DSN, so it is not shown.
    PQfreemem(message);
    throw Error(ErrorCode::invalid_argument,
                "a PostgreSQL DSN can not be read: write \"postgresql://user@host/database\"");
  }
  Options found;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr) found[option->keyword] = option->val;
  return found;
}

// keyword='value' …, as libpq reads it.
std::string conninfo(const std::string& dsn) {
  Options options = parsed(dsn);
  options.try_emplace("connect_timeout", "5");
  options.try_emplace("fallback_application_name", "ringshard");
  // A host that is gone without a word is noticed within about a minute, whoever waits for it.
  options.try_emplace("keepalives_idle", "30");
  options.try_emplace("keepalives_interval", "10");
  options.try_emplace("keepalives_count", "3");
  options.try_emplace("tcp_user_timeout", "60000");
  options["client_encoding"] = "UTF8";
  std::string text;
  for (const auto& [keyword, value] : options) {
    text += (text.empty() ? "" : " ") + keyword + "='";
    for (const char byte : value) {
      if (byte == '\'' || byte == '\\') text += '\\';
      text += byte;
    }
    text += "'";
  }
  return text;
}

struct CloseConnection {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};

[[noreturn]] void throw_not_connected(PGconn* connection, const std::string& place) {
  std::string reason = connection == nullptr ? "out of memory" : PQerrorMessage(connection);
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) reason.pop_back();
  // libpq tells the SQLSTATE of a refused connection in no other way.
  const bool no_database = reason.find("does not exist") != std::string::npos &&
                           reason.find("database \"") != std::string::npos;
  const bool not_let_in = reason.find("password authentication failed") != std::string::npos ||
                          reason.find("no pg_hba.conf entry") != std::string::npos ||
                          reason.find("no password supplied") != std::string::npos;
  const ErrorCode code = no_database  ? ErrorCode::not_found
                         : not_let_in ? ErrorCode::refused
                                      : ErrorCode::unavailable;
  throw Error(code, place + " can not be connected to: " + reason);
}

#if PQXX_VERSION_MAJOR < 7

// The handle that is being handed over: libpqxx 6 takes one from its policies only.
thread_local PGconn* handed_over = nullptr;

class TakeHandle : public pqxx::connect_direct {
 public:
  explicit TakeHandle(const std::string& options) : pqxx::connect_direct(options) {}
  handle do_startconnect(handle) override { return handed_over; }
};

using PqxxConnection = pqxx::basic_connection_base<TakeHandle>;

#else

using PqxxConnection = pqxx::connection;

#endif

}  // namespace

std::string place_of(const std::string& dsn) {
  const Options options = parsed(dsn);
  const auto value = [&options](const char* keyword) {
    const auto found = options.find(keyword);
    return found == options.end() ? std::string() : found->second;
  };
  std::string place = "the PostgreSQL database '" + value("dbname") + "'";
  if (const std::string host = value("host"); !host.empty()) place += " on " + host;
  if (const std::string port = value("port"); !port.empty()) place += ":" + port;
  if (const std::string service = value("service"); !service.empty())
    place += " of service " + service;
  return place;
}

struct Connection::Implementation {
  PGconn* handle = nullptr;
  std::optional<PqxxConnection> connection;
  std::optional<pqxx::nontransaction> transaction;
};

Connection::Connection(const std::string& dsn)
    : implementation_(std::make_unique<Implementation>()) {
  const std::string options = conninfo(dsn);
  std::unique_ptr<PGconn, CloseConnection> own(PQconnectdb(options.c_str()));
  if (!own || PQstatus(own.get()) != CONNECTION_OK) throw_not_connected(own.get(), place_of(dsn));
  implementation_->handle = own.get();
#if PQXX_VERSION_MAJOR < 7
  handed_over = own.release();
  implementation_->connection.emplace(options);
  handed_over = nullptr;
  implementation_->connection->inhibit_reactivation(true);
#else
  implementation_->connection.emplace(pqxx::connection::seize_raw_connection(own.release()));
#endif
  // Notices are for whoever reads the server's log.
  PQsetNoticeProcessor(
      implementation_->handle, [](void*, const char*) {}, nullptr);
}

Connection::~Connection() { end_transaction(); }

PGconn* Connection::handle() const noexcept { return implementation_->handle; }

pqxx::transaction_base& Connection::transaction() {
  if (!implementation_->transaction)
    implementation_->transaction.emplace(*implementation_->connection);
  return *implementation_->transaction;
}

void Connection::end_transaction() noexcept { implementation_->transaction.reset(); }

}  // namespace ringshard::postgres
