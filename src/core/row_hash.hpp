#pragma once

#include <cstdint>
#include <ringshard/value.hpp>
#include <string>
#include <string_view>

namespace ringshard::core {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};

/// XXH3_128bits, seed 0, of what encode_row() makes of the row: the same on every database and
/// machine. `scratch` holds those bytes meanwhile; hand in the same one again, so that no memory is
/// allocated for each row.
Hash128 hash_row(RowView row, std::string& scratch);

/// XXH3_64bits, seed 0.
std::uint64_t hash_text(std::string_view text) noexcept;

/// Sixteen lower-case hexadecimal digits.
std::string hex16(std::uint64_t number);

}  // namespace ringshard::core
