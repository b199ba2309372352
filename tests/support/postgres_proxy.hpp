#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "support/paths.hpp"

namespace ringshard::testing {

/// The network between a client and a PostgreSQL server, as a thread that hands bytes on: it counts
/// round trips, and it can stop handing on, in both directions or only what the server says.
class PostgresProxy {
 public:
  /// For the server and the database of a DSN made by TestDatabase.
  explicit PostgresProxy(const std::string& dsn);
  PostgresProxy(const PostgresProxy&) = delete;
  PostgresProxy& operator=(const PostgresProxy&) = delete;
  ~PostgresProxy();

  /// The same database, through the proxy.
  const std::string& dsn() const { return dsn_; }

  /// How often a server was ready for the next message.
  std::int64_t round_trips() const { return round_trips_.load(); }

  void hold_replies() { replies_held_ = true; }
  void hold_everything() { requests_held_ = replies_held_ = true; }

 private:
  struct Pair {
    int client = -1;
    int server = -1;
    std::string unread;  // of the server's messages, for counting
  };

  void run();
  bool pass(int from, int to);
  void count(Pair& pair, const char* bytes, std::size_t size);

  TemporaryFolder folder_;
  std::string server_path_;
  std::string dsn_;
  int listener_ = -1;
  std::atomic<std::int64_t> round_trips_{0};
  std::atomic<bool> requests_held_{false};
  std::atomic<bool> replies_held_{false};
  std::atomic<bool> stop_{false};
  std::list<Pair> pairs_;  // of the thread
  std::thread thread_;
};

}  // namespace ringshard::testing
