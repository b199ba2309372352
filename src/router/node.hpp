#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <ringshard/config.hpp>
#include <ringshard/topology.hpp>
#include <string>

#include "backend/backend.hpp"
#include "backend/pool.hpp"
#include "router/circuit.hpp"
#include "support/clock.hpp"

namespace ringshard::router {

using BackendOpener = std::function<std::shared_ptr<Backend>(const std::string& dsn)>;

/// One node as a router uses it: its database and its connections, one pool for the application's
/// statements and one for mirror writes, so that neither can starve the other. Thread-safe. A node
/// whose DSN changes becomes a new Node; the old one lives until the last call that uses it is
/// over.
class Node {
 public:
  Node(const NodeInfo& info, BackendOpener open, const RouterConfig& config, Clock& clock);

  const std::string& name() const noexcept { return name_; }
  const std::string& dsn() const noexcept { return dsn_; }

  // Each may throw what opening the backend throws; then the next call tries again.
  const Dialect& dialect();
  SessionPool& application();
  SessionPool& maintenance();

  Circuit& circuit() noexcept { return circuit_; }

  /// Closes the connections that nobody uses.
  void close_idle() noexcept;

 private:
  struct Open {
    Open(std::shared_ptr<Backend> opened, Clock& clock, const PoolOptions& options);
    std::shared_ptr<Backend> backend;
    SessionPool application;
    SessionPool maintenance;
  };
  Open& opened();

  // constant after construction
  const std::string name_;
  const std::string dsn_;
  const BackendOpener open_backend_;
  const PoolOptions pool_options_;
  Clock& clock_;

  Circuit circuit_;
  std::mutex mutex_;
  std::unique_ptr<Open> open_;  // guarded by mutex_ until it is set; then it stays what it is
};

}  // namespace ringshard::router
