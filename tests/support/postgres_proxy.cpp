#include "support/postgres_proxy.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace ringshard::testing {

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw std::runtime_error(path + " is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

void write_all(int socket, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::send(socket, bytes, size, MSG_NOSIGNAL);
    if (written <= 0) return;  // the other side sees the end itself
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace

PostgresProxy::PostgresProxy(const std::string& dsn) {
  const std::size_t host = dsn.find("?host=") + 6;
  server_path_ = dsn.substr(host) + "/.s.PGSQL.5432";
  dsn_ = dsn.substr(0, host) + folder_.path().string();
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of((folder_ / ".s.PGSQL.5432").string());
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, 16) != 0)
    throw std::runtime_error("the proxy can not listen");
  thread_ = std::thread([this] { run(); });
}

PostgresProxy::~PostgresProxy() {
  stop_ = true;
  thread_.join();
  for (const Pair& pair : pairs_) {
    ::close(pair.client);
    ::close(pair.server);
  }
  ::close(listener_);
}

// A type of one byte and a length of four, which counts itself; "Z": ready for the next.
void PostgresProxy::count(Pair& pair, const char* bytes, std::size_t size) {
  pair.unread.append(bytes, size);
  std::size_t at = 0;
  while (pair.unread.size() - at >= 5) {
    std::size_t length = 0;
    for (std::size_t i = 1; i < 5; ++i)
      length = length * 256 + static_cast<unsigned char>(pair.unread[at + i]);
    if (pair.unread.size() - at < length + 1) break;
    if (pair.unread[at] == 'Z') ++round_trips_;
    at += length + 1;
  }
  pair.unread.erase(0, at);
}

bool PostgresProxy::pass(int from, int to) {
  std::array<char, 65536> bytes;
  const ssize_t size = ::recv(from, bytes.data(), bytes.size(), 0);
  if (size <= 0) return false;
  for (Pair& pair : pairs_)
    if (pair.server == from) count(pair, bytes.data(), static_cast<std::size_t>(size));
  write_all(to, bytes.data(), static_cast<std::size_t>(size));
  return true;
}

void PostgresProxy::run() {
  while (!stop_) {
    std::vector<pollfd> sockets{{listener_, POLLIN, 0}};
    for (const Pair& pair : pairs_) {
      sockets.push_back({pair.client, static_cast<short>(requests_held_ ? 0 : POLLIN), 0});
      sockets.push_back({pair.server, static_cast<short>(replies_held_ ? 0 : POLLIN), 0});
    }
    if (::poll(sockets.data(), sockets.size(), 5) <= 0) continue;
    std::size_t i = 1;
    for (auto pair = pairs_.begin(); pair != pairs_.end(); i += 2) {
      const bool from_client = (sockets[i].revents & (POLLIN | POLLHUP)) != 0 && !requests_held_;
      const bool from_server = (sockets[i + 1].revents & (POLLIN | POLLHUP)) != 0 && !replies_held_;
      const bool open = (!from_client || pass(pair->client, pair->server)) &&
                        (!from_server || pass(pair->server, pair->client));
      if (open) {
        ++pair;
        continue;
      }
      ::close(pair->client);
      ::close(pair->server);
      pair = pairs_.erase(pair);
    }
    if ((sockets[0].revents & POLLIN) == 0) continue;
    Pair pair;
    pair.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    pair.server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(server_path_);
    if (::connect(pair.server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
      pairs_.push_back(std::move(pair));
    } else {
      ::close(pair.client);
      ::close(pair.server);
    }
  }
}

}  // namespace ringshard::testing
