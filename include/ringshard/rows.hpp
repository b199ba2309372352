#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ringshard/error.hpp>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ringshard {

namespace detail {

// Each gives false if the value is not of that kind; nothing is rounded and nothing parsed.
bool read_value(const Value& value, std::int64_t& out) noexcept;
bool read_value(const Value& value, double& out) noexcept;
bool read_value(const Value& value, bool& out) noexcept;
bool read_value(const Value& value, std::string& out);
bool read_value(const Value& value, std::string_view& out) noexcept;
bool read_value(const Value& value, Blob& out);
bool read_value(const Value& value, Value& out);

template <std::integral Integer>
bool read_value(const Value& value, Integer& out) noexcept {
  std::int64_t wide = 0;
  if (!read_value(value, wide) || !std::in_range<Integer>(wide)) return false;
  out = static_cast<Integer>(wide);
  return true;
}

template <class T>
bool read_value(const Value& value, std::optional<T>& out) {
  out.reset();
  if (std::holds_alternative<Null>(value)) return true;
  return read_value(value, out.emplace());
}

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {
  using Inner = T;
};

template <class T>
constexpr std::string_view wanted_name() noexcept {
  if constexpr (IsOptional<T>::value) {
    return wanted_name<typename IsOptional<T>::Inner>();
  } else if constexpr (std::same_as<T, bool>) {
    return "a truth value (0 or 1)";
  } else if constexpr (std::same_as<T, std::int64_t>) {
    return "an integer";
  } else if constexpr (std::integral<T>) {
    return "an integer in the range of the type asked for";
  } else if constexpr (std::floating_point<T>) {
    return "a number";
  } else if constexpr (std::same_as<T, Blob>) {
    return "a blob";
  } else {
    return "text";
  }
}

}  // namespace detail

/// The whole result of a query, owned. A value: copy and move it, read it from any number of
/// threads.
///
///     const Rows rows = tx.query("SELECT id, name FROM customer WHERE city = $1", city);
///     for (const auto row : rows) use(row.at<std::int64_t>(0), row.at<std::string>("name"));
///
/// The types that at() gives: every integer type (range checked), double (an integer too, where it
/// fits exactly), bool (0 and 1), std::string, std::string_view (into these rows), Blob, Value, and
/// std::optional of each, for which NULL is "no value". Nothing is rounded and no text is parsed.
class Rows {
 public:
  /// One row; it must not outlive the Rows that it is of.
  class RowReference {
   public:
    std::size_t size() const noexcept { return rows_->width(); }
    const Value& operator[](std::size_t column) const { return rows_->value(index_, column); }
    template <class T>
    T at(std::size_t column) const {
      return rows_->at<T>(index_, column);
    }
    template <class T>
    T at(std::string_view column) const {
      return rows_->at<T>(index_, column);
    }

   private:
    friend class Rows;
    RowReference(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}
    const Rows* rows_;
    std::size_t index_;
  };

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = RowReference;
    RowReference operator*() const { return (*rows_)[index_]; }
    Iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++index_;
      return before;
    }
    friend bool operator==(const Iterator& left, const Iterator& right) noexcept {
      return left.index_ == right.index_;
    }

   private:
    friend class Rows;
    Iterator(const Rows& rows, std::size_t index) : rows_(&rows), index_(index) {}
    const Rows* rows_;
    std::size_t index_;
  };

  Rows() = default;
  explicit Rows(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Adds one row, of as many values as there are columns. A result without column names takes its
  /// width from the first row.
  void append(RowView row);

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  std::size_t width() const noexcept { return columns_.size(); }
  const std::vector<std::string>& columns() const noexcept { return columns_; }

  /// The position of a column. Error{invalid_argument} that lists the columns there are if none has
  /// this name; of two with one name, the first.
  std::size_t column(std::string_view name) const;

  /// Error{invalid_argument} if there is no such row or column.
  const Value& value(std::size_t row, std::size_t column) const;

  /// Error{invalid_argument}, naming row, column and what is there, if the value is NULL (unless T
  /// is std::optional) or not a T.
  template <class T>
  T at(std::size_t row, std::size_t column) const {
    T out{};
    const Value& there = value(row, column);
    if (!detail::read_value(there, out)) refuse(row, column, detail::wanted_name<T>());
    return out;
  }
  template <class T>
  T at(std::size_t row, std::string_view column_name) const {
    return at<T>(row, column(column_name));
  }

  RowReference operator[](std::size_t row) const { return RowReference(*this, row); }
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, count_}; }

 private:
  [[noreturn]] void refuse(std::size_t row, std::size_t column, std::string_view wanted) const;

  std::vector<std::string> columns_;
  std::vector<Value> values_;  // row after row
  std::size_t count_ = 0;
};

namespace detail {

/// What query_value<T…>() gives: T itself for one type, a tuple for more.
template <class... T>
struct ResultOf {
  static_assert(sizeof...(T) > 0, "say which type is wanted: query_value<std::int64_t>(…)");
  static_assert(!(std::same_as<T, std::string_view> || ...),
                "the rows are gone when the call returns: use std::string");
  using Type = std::tuple<T...>;
};
template <class T>
struct ResultOf<T> {
  static_assert(!std::same_as<T, std::string_view>,
                "the rows are gone when the call returns: use std::string");
  using Type = T;
};

/// Error{invalid_argument} unless there is at most one row and it has `width` columns.
void check_single(const Rows& rows, std::size_t width);
[[noreturn]] void refuse_no_row();

template <class... T>
typename ResultOf<T...>::Type first_of(const Rows& rows) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return typename ResultOf<T...>::Type{rows.at<T>(0, I)...};
  }
  (std::index_sequence_for<T...>());
}

template <class... T>
std::optional<typename ResultOf<T...>::Type> optional_of(const Rows& rows) {
  check_single(rows, sizeof...(T));
  if (rows.empty()) return std::nullopt;
  return first_of<T...>(rows);
}

template <class... T>
typename ResultOf<T...>::Type value_of(const Rows& rows) {
  check_single(rows, sizeof...(T));
  if (rows.empty()) refuse_no_row();
  return first_of<T...>(rows);
}

}  // namespace detail
}  // namespace ringshard
