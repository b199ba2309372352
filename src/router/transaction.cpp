#include <ringshard/transaction.hpp>
#include <utility>
#include <vector>

#include "backend/session.hpp"
#include "router/open_transaction.hpp"

namespace ringshard {

namespace {

class RowsSink final : public ResultSink {
 public:
  void columns(std::span<const std::string_view> names) override {
    rows = Rows(std::vector<std::string>(names.begin(), names.end()));
  }
  bool row(RowView row) override {
    rows.append(row);
    return true;
  }
  Rows rows;
};

class FunctionSink final : public ResultSink {
 public:
  explicit FunctionSink(const std::function<bool(RowView)>& function) : function_(function) {}
  bool row(RowView row) override { return function_(row); }

 private:
  const std::function<bool(RowView)>& function_;
};

// Notes what the session itself throws, to tell it from what the caller's function throws, and adds
// the shard.
template <class Call>
auto on_session(detail::OpenTransaction& open, const Call& call) {
  try {
    return call(open.session);
  } catch (Error& error) {
    if (error.code() == ErrorCode::conflict) open.conflict = true;
    if (!error.shard()) error.with_shard(open.shard);
    throw;
  }
}

}  // namespace

void detail::refuse_parameter(const char* reason) {
  throw Error(ErrorCode::invalid_argument, std::string("a parameter of a statement: ") + reason);
}

ShardId ReadTransaction::shard() const noexcept { return open_.shard; }

Rows ReadTransaction::query_with(std::string_view sql, std::span<const ValueView> parameters) {
  RowsSink sink;
  on_session(open_, [&](Session& session) { session.query(sql, parameters, sink); });
  return std::move(sink.rows);
}

void ReadTransaction::for_each_with(std::string_view sql,
                                    const std::function<bool(RowView)>& function,
                                    std::span<const ValueView> parameters) {
  FunctionSink sink(function);
  on_session(open_, [&](Session& session) { session.query(sql, parameters, sink); });
}

void* ReadTransaction::native_handle_untyped() { return open_.session.native_handle(); }

std::int64_t Transaction::execute_with(std::string_view sql,
                                       std::span<const ValueView> parameters) {
  return on_session(open_, [&](Session& session) { return session.execute(sql, parameters); });
}

}  // namespace ringshard
