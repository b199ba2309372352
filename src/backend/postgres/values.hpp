#pragma once

#include <cstddef>
#include <ringshard/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema.hpp"

struct pg_result;

namespace ringshard::postgres {

/// Parameters as libpq takes them. Numbers and texts travel as text without a type, so that the
/// server gives each the type of what it is compared with or stored in; bytes travel as they are.
class Parameters {
 public:
  /// Error{invalid_argument} for a text with a NUL byte, which PostgreSQL can not store.
  explicit Parameters(std::span<const ValueView> values);

  int size() const noexcept { return static_cast<int>(pointers_.size()); }
  const unsigned* types() const noexcept { return types_.data(); }
  const char* const* values() const noexcept { return pointers_.data(); }
  const int* lengths() const noexcept { return lengths_.data(); }
  const int* formats() const noexcept { return formats_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
  std::vector<unsigned> types_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

/// The type of a value as it is read: integers (booleans as 0 and 1), floating-point numbers and
/// bytes are what they are, everything else is the text that the server shows. A moment is shown
/// without its offset where that is known to be UTC.
enum class Kind : unsigned char { text, integer, number, boolean, bytes, moment };
Kind kind_of(unsigned type_oid) noexcept;

/// What a column of this type holds.
ColumnKind column_kind_of(unsigned type_oid) noexcept;

/// What the server's text of a value stands for. `bytes` keeps unescaped bytes alive. `pinned`: the
/// server made it under the settings that ringshard's own transactions have.
ValueView value_of(Kind kind, std::string_view text, std::string& bytes, bool pinned);

/// The rows of a result, one at a time.
class ResultRows {
 public:
  /// `pinned` as for value_of().
  explicit ResultRows(const pg_result* result, bool pinned = false);

  int count() const noexcept { return count_; }
  std::span<const std::string_view> names() const noexcept { return names_; }
  /// Valid until the next call.
  RowView row(int index);

 private:
  const pg_result* result_;
  int count_;
  bool pinned_;
  std::vector<std::string_view> names_;
  std::vector<Kind> kinds_;
  std::vector<ValueView> row_;
  std::vector<std::string> bytes_;
};

/// The shortest text that is this number again.
std::string text_of(double number);

}  // namespace ringshard::postgres
