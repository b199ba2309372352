#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <ringshard/cluster.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "support/fault.hpp"
#include "support/fleet.hpp"

namespace ringshard::testing {

/// What a real backend is disturbed by. Each may throw or block. Constant while a Cluster uses
/// them.
struct Hooks {
  std::function<void(const HomeName&)> connect;
  std::function<void(const HomeName&, TxMode, SessionUse)> begin;
  std::function<void(const HomeName&, SessionUse)> before_commit;
  std::function<void(const HomeName&, SessionUse)> after_commit;
};

class HookedSession final : public Session {
 public:
  HookedSession(std::unique_ptr<Session> inner, const Hooks& hooks, SessionUse use)
      : inner_(std::move(inner)), hooks_(hooks), use_(use) {}

  const HomeRecord* begin_home(const HomeName& home, TxMode mode, Deadline lock_deadline) override {
    home_ = home;
    if (hooks_.begin) hooks_.begin(home, mode, use_);
    return inner_->begin_home(home, mode, lock_deadline);
  }
  void begin(TxMode mode, Deadline lock_deadline) override { inner_->begin(mode, lock_deadline); }
  void commit() override {
    if (hooks_.before_commit) hooks_.before_commit(home_, use_);
    inner_->commit();
    if (hooks_.after_commit) hooks_.after_commit(home_, use_);
  }
  void rollback() noexcept override { inner_->rollback(); }
  bool in_transaction() const noexcept override { return inner_->in_transaction(); }
  std::int64_t execute(std::string_view sql, std::span<const ValueView> parameters) override {
    return inner_->execute(sql, parameters);
  }
  void query(std::string_view sql, std::span<const ValueView> parameters,
             ResultSink& sink) override {
    inner_->query(sql, parameters, sink);
  }
  void run_script(std::string_view sql) override { inner_->run_script(sql); }
  void set_statement_deadline(Deadline deadline) override {
    inner_->set_statement_deadline(deadline);
  }
  bool usable() const noexcept override { return inner_->usable(); }
  void* native_handle() noexcept override { return inner_->native_handle(); }

 private:
  std::unique_ptr<Session> inner_;
  const Hooks& hooks_;
  const SessionUse use_;
  HomeName home_;
};

class HookedBackend final : public Backend {
 public:
  HookedBackend(std::unique_ptr<Backend> inner, const Hooks& hooks)
      : inner_(std::move(inner)), hooks_(hooks) {}

  const Dialect& dialect() const noexcept override { return inner_->dialect(); }
  std::unique_ptr<Session> connect(const HomeName& home, SessionUse use) override {
    if (hooks_.connect) hooks_.connect(home);
    return std::make_unique<HookedSession>(inner_->connect(home, use), hooks_, use);
  }
  std::string session_key(const HomeName& home) const override { return inner_->session_key(home); }
  std::size_t idle_sessions_max() const noexcept override { return inner_->idle_sessions_max(); }
  void check_node() override { inner_->check_node(); }
  void prepare_node() override { inner_->prepare_node(); }
  NodeFacts facts() override { return inner_->facts(); }
  void ping() override { inner_->ping(); }
  bool home_exists(const HomeName& home) override { return inner_->home_exists(home); }
  void create_home(const HomeName& home, const std::optional<HomeRecord>& record,
                   const HomeSchema& schema) override {
    inner_->create_home(home, record, schema);
  }
  void drop_home(const HomeName& home) override { inner_->drop_home(home); }
  bool drop_home_if(const HomeName& home,
                    const std::function<bool(const std::optional<HomeRecord>&)>& may_go,
                    Deadline lock_deadline) override {
    return inner_->drop_home_if(home, may_go, lock_deadline);
  }
  std::vector<HomeName> homes(std::string_view keyspace) override {
    return inner_->homes(keyspace);
  }
  std::int64_t home_bytes(const HomeName& home) override { return inner_->home_bytes(home); }

 private:
  std::unique_ptr<Backend> inner_;
  const Hooks& hooks_;
};

/// Options that put `hooks`, which must outlive the Cluster, around the nodes whose DSN ends in
/// `dsn_end`.
inline ClusterOptions hooked(const Hooks& hooks, std::string dsn_end = "") {
  ClusterOptions options;
  options.open_backend = [&hooks, dsn_end](const std::string& dsn) -> std::shared_ptr<Backend> {
    auto backend = open_backend(dsn, system_clock());
    if (!std::string_view(dsn).ends_with(dsn_end)) return backend;
    return std::make_shared<HookedBackend>(std::move(backend), hooks);
  };
  return options;
}

/// A handler of fault points for one scope.
class FaultScope {
 public:
  explicit FaultScope(fault::Handler handler) { fault::set_handler(std::move(handler)); }
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;
  ~FaultScope() { fault::set_handler({}); }
};

/// The code of the Error that `call` throws; nothing if it throws none.
template <class Call>
std::optional<ErrorCode> code_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

inline std::int64_t add_item(Cluster& cluster, std::int64_t customer, std::int64_t id,
                             std::string_view text = "x") {
  return cluster.execute(customer, "INSERT INTO item (id, customer, text) VALUES ($1, $2, $3)", id,
                         customer, text);
}

inline constexpr std::string_view count_items = "SELECT count(*) FROM item";

}  // namespace ringshard::testing
