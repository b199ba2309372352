#include "backend/postgres/listener.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <ringshard/error.hpp>

#include "backend/factories.hpp"
#include "backend/postgres/connection.hpp"

namespace ringshard {

namespace postgres {

namespace {

/// Behind a pooler between transactions nothing is heard: then the poll of whoever uses this is all
/// there is.
class PostgresListener final : public CatalogListener {
 public:
  explicit PostgresListener(const std::string& dsn)
      : place_(place_of(dsn)), connection_(dsn), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wake_ < 0)
      throw Error(ErrorCode::unavailable, "no file descriptor is left to listen to " + place_);
    const std::string listen = "LISTEN " + std::string(notification_channel);
    const std::unique_ptr<PGresult, decltype(&PQclear)> done(
        PQexec(connection_.handle(), listen.c_str()), PQclear);
    if (PQresultStatus(done.get()) != PGRES_COMMAND_OK) {
      ::close(wake_);
      lose();
    }
  }
  PostgresListener(const PostgresListener&) = delete;
  PostgresListener& operator=(const PostgresListener&) = delete;
  ~PostgresListener() override { ::close(wake_); }

  bool wait() override {
    PGconn* connection = connection_.handle();
    for (;;) {
      if (PQconsumeInput(connection) == 0) lose();
      bool changed = false;
      while (PGnotify* notice = PQnotifies(connection)) {
        PQfreemem(notice);
        changed = true;
      }
      if (changed) return true;
      std::array<pollfd, 2> files{pollfd{PQsocket(connection), POLLIN, 0},
                                  pollfd{wake_, POLLIN, 0}};
      if (::poll(files.data(), files.size(), -1) < 0 && errno != EINTR) lose();
      if (files[1].revents != 0) {
        std::uint64_t count = 0;
        static_cast<void>(!::read(wake_, &count, sizeof count));
        return false;
      }
    }
  }

  void interrupt() noexcept override {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_, &one, sizeof one));
  }

 private:
  [[noreturn]] void lose() {
    throw Error(ErrorCode::unavailable, "the connection that listens to " + place_ + " was lost");
  }

  const std::string place_;
  Connection connection_;
  const int wake_;
};

}  // namespace
}  // namespace postgres

std::unique_ptr<CatalogListener> listen_to_postgres_catalog(std::string_view location, Clock&) {
  return std::make_unique<postgres::PostgresListener>("postgresql:" + std::string(location));
}

}  // namespace ringshard
