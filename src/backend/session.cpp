#include "backend/session.hpp"

#include <utility>

namespace ringshard {

namespace {

class FunctionSink final : public ResultSink {
 public:
  explicit FunctionSink(const Session::RowFunction& function) : function_(function) {}
  bool row(RowView row) override { return function_(row); }

 private:
  const Session::RowFunction& function_;
};

class FirstRowSink final : public ResultSink {
 public:
  bool row(RowView row) override {
    found_ = to_row(row);
    return false;
  }
  std::optional<Row> take() { return std::move(found_); }

 private:
  std::optional<Row> found_;
};

class IntegerSink final : public ResultSink {
 public:
  explicit IntegerSink(std::int64_t otherwise) : number_(otherwise) {}
  bool row(RowView row) override {
    if (row.empty()) return false;
    if (const auto* integer = std::get_if<std::int64_t>(&row.front())) number_ = *integer;
    return false;
  }
  std::int64_t number() const { return number_; }

 private:
  std::int64_t number_;
};

std::span<const ValueView> as_span(std::initializer_list<ValueView> parameters) {
  return {parameters.begin(), parameters.size()};
}

}  // namespace

Savepoint::~Savepoint() {
  if (kept_ || !session_.in_transaction()) return;
  try {
    session_.execute("ROLLBACK TO SAVEPOINT ringshard_part");
  } catch (const std::exception&) {
    // The connection is lost, and the transaction with it.
  }
}

void Savepoint::keep() {
  session_.execute("RELEASE SAVEPOINT ringshard_part");
  kept_ = true;
}

void Session::for_each(std::string_view sql, std::span<const ValueView> parameters,
                       const RowFunction& function) {
  FunctionSink sink(function);
  query(sql, parameters, sink);
}

std::vector<Row> Session::rows(std::string_view sql, std::initializer_list<ValueView> parameters) {
  std::vector<Row> found;
  for_each(sql, parameters, [&found](RowView row) {
    found.push_back(to_row(row));
    return true;
  });
  return found;
}

std::optional<Row> Session::first_row(std::string_view sql,
                                      std::initializer_list<ValueView> parameters) {
  FirstRowSink sink;
  query(sql, as_span(parameters), sink);
  return sink.take();
}

std::int64_t Session::integer(std::string_view sql, std::initializer_list<ValueView> parameters,
                              std::int64_t otherwise) {
  IntegerSink sink(otherwise);
  query(sql, as_span(parameters), sink);
  return sink.number();
}

std::string quoted(std::string_view identifier) {
  std::string text = "\"";
  for (const char byte : identifier) {
    if (byte == '"') text += '"';
    text += byte;
  }
  return text + '"';
}

std::string quoted_list(std::span<const std::string> identifiers) {
  std::string text;
  for (const std::string& identifier : identifiers) {
    if (!text.empty()) text += ", ";
    text += quoted(identifier);
  }
  return text;
}

std::string placeholders(std::size_t count, std::size_t first) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += ", ";
    text += '$' + std::to_string(first + i);
  }
  return text;
}

}  // namespace ringshard
