#include "router/node.hpp"

#include <utility>

namespace ringshard::router {

Node::Open::Open(std::shared_ptr<Backend> opened, Clock& clock, const PoolOptions& options)
    : backend(std::move(opened)),
      application(*backend, clock, SessionUse::application, options),
      maintenance(*backend, clock, SessionUse::maintenance, options) {}

Node::Node(const NodeInfo& info, BackendOpener open, const RouterConfig& config, Clock& clock)
    : name_(info.name),
      dsn_(info.dsn),
      open_backend_(std::move(open)),
      pool_options_{.size_max = config.pool_size_max, .wait_max = config.pool_wait},
      clock_(clock) {}

Node::Open& Node::opened() {
  // Opening a backend reads its DSN and does no I/O: that comes with the first connection.
  std::lock_guard lock(mutex_);
  if (!open_) {
    std::shared_ptr<Backend> backend = open_backend_(dsn_);
    PoolOptions options = pool_options_;
    options.open_max = backend->idle_sessions_max();
    open_ = std::make_unique<Open>(std::move(backend), clock_, options);
  }
  return *open_;
}

const Dialect& Node::dialect() { return opened().backend->dialect(); }
SessionPool& Node::application() { return opened().application; }
SessionPool& Node::maintenance() { return opened().maintenance; }

void Node::close_idle() noexcept {
  Open* open = nullptr;
  {
    std::lock_guard lock(mutex_);
    open = open_.get();
  }
  if (open == nullptr) return;
  open->application.close_idle();
  open->maintenance.close_idle();
}

}  // namespace ringshard::router
