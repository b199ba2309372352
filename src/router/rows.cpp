#include <cmath>
#include <ringshard/rows.hpp>

namespace ringshard {

namespace {

// Every integer up to here has its own double.
constexpr std::int64_t exact_double_max = std::int64_t{1} << 53;

template <class T>
bool copy_if(const Value& value, T& out) {
  const T* there = std::get_if<T>(&value);
  if (there == nullptr) return false;
  out = *there;
  return true;
}

}  // namespace

bool detail::read_value(const Value& value, std::int64_t& out) noexcept {
  return copy_if(value, out);
}

bool detail::read_value(const Value& value, double& out) noexcept {
  if (copy_if(value, out)) return true;
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || *integer > exact_double_max || *integer < -exact_double_max) {
    return false;
  }
  out = static_cast<double>(*integer);
  return true;
}

bool detail::read_value(const Value& value, bool& out) noexcept {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer == nullptr || (*integer != 0 && *integer != 1)) return false;
  out = *integer == 1;
  return true;
}

bool detail::read_value(const Value& value, std::string& out) { return copy_if(value, out); }

bool detail::read_value(const Value& value, std::string_view& out) noexcept {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return false;
  out = *text;
  return true;
}

bool detail::read_value(const Value& value, Blob& out) { return copy_if(value, out); }

bool detail::read_value(const Value& value, Value& out) {
  out = value;
  return true;
}

void detail::check_single(const Rows& rows, std::size_t width) {
  if (rows.size() > 1) {
    throw Error(
        ErrorCode::invalid_argument,
        "the query gave more than one row where one was asked for: use query(), or LIMIT 1");
  }
  if (!rows.empty() && rows.width() != width) {
    throw Error(ErrorCode::invalid_argument, "the query gave " + std::to_string(rows.width()) +
                                                 " column(s) where " + std::to_string(width) +
                                                 " were asked for");
  }
}

void detail::refuse_no_row() {
  throw Error(ErrorCode::not_found,
              "the query gave no row where one has to be: use query_optional()");
}

void Rows::append(RowView row) {
  if (columns_.empty()) columns_.resize(row.size());
  if (row.size() != columns_.size()) {
    throw Error(ErrorCode::invalid_argument, "a row of " + std::to_string(row.size()) +
                                                 " values for " + std::to_string(columns_.size()) +
                                                 " columns");
  }
  for (const ValueView& value : row) values_.push_back(to_value(value));
  ++count_;
}

std::size_t Rows::column(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] == name) return i;
    known += (i == 0 ? "" : ", ") + columns_[i];
  }
  throw Error(ErrorCode::invalid_argument,
              "the result has no column '" + std::string(name) + "'; it has: " + known);
}

const Value& Rows::value(std::size_t row, std::size_t column) const {
  if (row >= count_ || column >= width()) {
    throw Error(ErrorCode::invalid_argument, "row " + std::to_string(row) + ", column " +
                                                 std::to_string(column) + " of a result with " +
                                                 std::to_string(count_) + " row(s) and " +
                                                 std::to_string(width()) + " column(s)");
  }
  return values_[row * width() + column];
}

void Rows::refuse(std::size_t row, std::size_t column, std::string_view wanted) const {
  const Value& there = value(row, column);
  std::string message = "row " + std::to_string(row) + ", column '" + columns_[column] + "' is " +
                        describe(view(there)) + ", not " + std::string(wanted);
  if (std::holds_alternative<Null>(there)) message += ": ask for a std::optional";
  throw Error(ErrorCode::invalid_argument, message);
}

}  // namespace ringshard
