#include "backend/backend.hpp"

#include <ringshard/config.hpp>

#include "core/row_hash.hpp"

namespace ringshard {

void Digest::add(std::uint64_t hash_low, std::uint64_t hash_high) noexcept {
  *this += Digest{1, hash_low, hash_high};
}

Digest& Digest::operator+=(const Digest& other) noexcept {
  rows += other.rows;
  const std::uint64_t low = sum_low + other.sum_low;
  const std::uint64_t carry = low < sum_low ? 1 : 0;
  sum_low = low;
  sum_high += other.sum_high + carry;
  return *this;
}

std::string Digest::str() const {
  return std::to_string(rows) + (rows == 1 ? " row, " : " rows, ") + core::hex16(sum_high) +
         core::hex16(sum_low);
}

RowForm form_between(const Dialect& left, const Dialect& right) noexcept {
  return left.engine() == right.engine() ? RowForm::native : RowForm::portable;
}

void raise_counters(const Dialect& dialect, Session& session, const std::vector<Counter>& counters,
                    RowForm form) {
  if (form == RowForm::native)
    dialect.raise_counters(session, counters);
  else
    dialect.raise_foreign_counters(session, *dialect.schema(session), counters);
}

BackendOptions to_backend_options(const Config& config) {
  return {.sqlite = {.synchronous_full = config.sqlite.synchronous != "normal",
                     .foreign_keys = config.sqlite.foreign_keys}};
}

}  // namespace ringshard
