#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ringshard/ids.hpp>
#include <ringshard/rows.hpp>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ringshard {

class Session;
class Cluster;

namespace detail {

[[noreturn]] void refuse_parameter(const char* reason);

/// A caller's value as a parameter of a statement. It points into `value`. Taken are: integers,
/// bool (as 0 or 1), float, double, text in every form, Blob, BlobView, Value, ValueView, Null,
/// std::nullopt and std::optional of these. Error{invalid_argument} for an unsigned integer above
/// 2^63-1 and for a null character pointer.
template <class T>
ValueView to_parameter(const T& value) {
  if constexpr (std::same_as<T, Null> || std::same_as<T, std::nullopt_t>) {
    return Null{};
  } else if constexpr (std::same_as<T, ValueView>) {
    return value;
  } else if constexpr (std::same_as<T, Value>) {
    return view(value);
  } else if constexpr (std::same_as<T, BlobView>) {
    return value;
  } else if constexpr (std::same_as<T, Blob>) {
    return BlobView{value.bytes};
  } else if constexpr (IsOptional<T>::value) {
    return value ? to_parameter(*value) : ValueView(Null{});
  } else if constexpr (std::integral<T>) {
    if constexpr (!std::same_as<T, bool>) {
      if (!std::in_range<std::int64_t>(value)) {
        refuse_parameter("an unsigned integer above 9223372036854775807 is no SQL integer");
      }
    }
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else {
    static_assert(std::convertible_to<const T&, std::string_view>,
                  "this type can not be a parameter of a statement");
    if constexpr (std::is_pointer_v<T>) {
      if (value == nullptr) refuse_parameter("a null pointer is no text: use ringshard::Null{}");
    }
    return std::string_view(value);
  }
}

template <class... P>
std::array<ValueView, sizeof...(P)> to_parameters(const P&... parameters) {
  return {to_parameter(parameters)...};
}

/// The open transaction that a Transaction speaks to. Internal.
struct OpenTransaction;

}  // namespace detail

/// One snapshot of one shard, inside the function given to Cluster::read(). For the thread that
/// runs this function, until it returns.
///
/// SQL sees the shard's own tables by their plain names. Parameters are $1, $2, … and given in
/// order. Each call may throw Error: sql, constraint, timeout, conflict, unavailable, ….
class ReadTransaction {
 public:
  explicit ReadTransaction(detail::OpenTransaction& open) noexcept : open_(open) {}
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

  ShardId shard() const noexcept;

  /// All rows of a query, in memory at once: for many rows use for_each().
  template <class... P>
  Rows query(std::string_view sql, const P&... parameters) {
    return query_with(sql, detail::to_parameters(parameters...));
  }
  Rows query_with(std::string_view sql, std::span<const ValueView> parameters);

  /// The only row of a query as T, or as a tuple for several types; nothing if there is no row.
  /// Error{invalid_argument} for more than one row, another number of columns, or another type
  /// (rows.hpp).
  ///
  ///     auto customer = tx.query_optional<std::int64_t, std::string>(
  ///         "SELECT id, name FROM customer WHERE email = $1", email);
  template <class... T, class... P>
  std::optional<typename detail::ResultOf<T...>::Type> query_optional(std::string_view sql,
                                                                      const P&... parameters) {
    return detail::optional_of<T...>(query(sql, parameters...));
  }

  /// The same where there has to be a row: Error{not_found} if there is none.
  template <class... T, class... P>
  typename detail::ResultOf<T...>::Type query_value(std::string_view sql, const P&... parameters) {
    return detail::value_of<T...>(query(sql, parameters...));
  }

  /// Calls `function` with each row, which is valid during that call only; false ends it.
  template <class... P>
  void for_each(std::string_view sql, const std::function<bool(RowView)>& function,
                const P&... parameters) {
    for_each_with(sql, function, detail::to_parameters(parameters...));
  }
  void for_each_with(std::string_view sql, const std::function<bool(RowView)>& function,
                     std::span<const ValueView> parameters);

  /// The driver's own handle, for code that has a data layer of its own: native_handle<sqlite3>()
  /// on SQLite. It is inside this transaction. Do not end the transaction through it, do not close
  /// it, and do not keep it: a transaction ended that way can no longer be vouched for
  /// (Error{outcome_unknown}).
  template <class Driver>
  Driver* native_handle() {
    return static_cast<Driver*>(native_handle_untyped());
  }

 protected:
  void* native_handle_untyped();
  detail::OpenTransaction& open_;
};

/// The same with writes, inside the function given to Cluster::transact(). Everything is committed
/// together when the function returns, and rolled back if it throws.
class Transaction : public ReadTransaction {
 public:
  using ReadTransaction::ReadTransaction;

  /// One statement; returns the number of rows that it changed.
  template <class... P>
  std::int64_t execute(std::string_view sql, const P&... parameters) {
    return execute_with(sql, detail::to_parameters(parameters...));
  }
  std::int64_t execute_with(std::string_view sql, std::span<const ValueView> parameters);
};

}  // namespace ringshard
