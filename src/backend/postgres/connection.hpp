#pragma once

#include <memory>
#include <string>
#include <string_view>

struct pg_conn;

namespace pqxx {
class transaction_base;
}  // namespace pqxx

namespace ringshard::postgres {

/// A database as messages name it: host and database name, never a password.
std::string place_of(const std::string& dsn);

/// One connection. Statements go through libpq's own handle, because libpqxx 6 gives neither the
/// command tag, nor the state of the transaction, nor a time-out for a server that does not answer;
/// the libpqxx objects around that handle are for code of the application.
class Connection {
 public:
  /// Connects; `dsn` is whatever libpq takes ("postgresql://user@host,host2/name?sslmode=…").
  /// Error{unavailable}, Error{not_found} for a database that does not exist, Error{refused} if the
  /// server does not let this user in.
  explicit Connection(const std::string& dsn);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  pg_conn* handle() const noexcept;

  /// Made on first use and kept until end_transaction().
  pqxx::transaction_base& transaction();
  void end_transaction() noexcept;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ringshard::postgres
