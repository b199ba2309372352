#include "core/row_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstddef>
#include <cstring>

#include "core/bytes.hpp"

namespace ringshard::core {

namespace {

// Numbers are written as they lie in memory where that is the stored format.
bool append_number(std::string& out, char tag, std::uint64_t number) {
  if constexpr (std::endian::native != std::endian::little) return false;
  char bytes[9];
  bytes[0] = tag;
  std::memcpy(bytes + 1, &number, sizeof number);
  out.append(bytes, sizeof bytes);
  return true;
}

// The two most frequent kinds without the general path; the rest is append_encoded()'s.
void append(std::string& out, const ValueView& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (append_number(out, 1, std::bit_cast<std::uint64_t>(*integer))) return;
  } else if (const auto* real = std::get_if<double>(&value)) {
    if (append_number(out, 2, std::bit_cast<std::uint64_t>(*real))) return;
  }
  append_encoded(out, value);
}

}  // namespace

Hash128 hash_row(RowView row, std::string& scratch) {
  scratch.clear();
  for (const ValueView& value : row) append(scratch, value);
  const XXH128_hash_t hash = XXH3_128bits(scratch.data(), scratch.size());
  return {hash.low64, hash.high64};
}

std::uint64_t hash_text(std::string_view text) noexcept {
  return XXH3_64bits(text.data(), text.size());
}

std::string hex16(std::uint64_t number) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; number >>= 4U) text[i] = "0123456789abcdef"[number & 0xfU];
  return text;
}

}  // namespace ringshard::core
