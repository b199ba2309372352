#include <algorithm>
#include <bit>
#include <cstring>

#include "backend/portable/portable.hpp"

namespace ringshard::portable {

namespace {

struct State {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t c;

  void mix() noexcept {
    a -= c, a ^= std::rotl(c, 4), c += b;
    b -= a, b ^= std::rotl(a, 6), a += c;
    c -= b, c ^= std::rotl(b, 8), b += a;
    a -= c, a ^= std::rotl(c, 16), c += b;
    b -= a, b ^= std::rotl(a, 19), a += c;
    c -= b, c ^= std::rotl(b, 4), b += a;
  }

  void finish() noexcept {
    c ^= b, c -= std::rotl(b, 14);
    a ^= c, a -= std::rotl(c, 11);
    b ^= a, b -= std::rotl(a, 25);
    c ^= b, c -= std::rotl(b, 16);
    a ^= c, a -= std::rotl(c, 4);
    b ^= a, b -= std::rotl(a, 14);
    c ^= b, c -= std::rotl(b, 24);
  }
};

// Little-endian, whatever the machine is.
std::uint32_t word_at(const char* bytes) noexcept {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i)
    word |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return word;
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) noexcept {
  const auto start = 0x9e3779b9U + static_cast<std::uint32_t>(bytes.size()) + 3923095U;
  State state{start, start, start};
  if (seed != 0) {
    state.a += static_cast<std::uint32_t>(seed >> 32U);
    state.b += static_cast<std::uint32_t>(seed);
    state.mix();
  }
  while (bytes.size() >= 12) {
    state.a += word_at(bytes.data());
    state.b += word_at(bytes.data() + 4);
    state.c += word_at(bytes.data() + 8);
    state.mix();
    bytes.remove_prefix(12);
  }
  // The lowest byte of the last word is kept free for the length.
  char rest[13] = {};
  std::memcpy(rest, bytes.data(), std::min<std::size_t>(bytes.size(), 8));
  if (bytes.size() > 8) std::memcpy(rest + 9, bytes.data() + 8, bytes.size() - 8);
  state.a += word_at(rest);
  state.b += word_at(rest + 4);
  state.c += word_at(rest + 8);
  state.finish();
  return std::uint64_t{state.b} << 32U | state.c;
}

core::Hash128 hash_row(std::span<const ColumnKind> kinds, RowView row, std::string& scratch) {
  scratch.clear();
  append_row(scratch, kinds, row);
  return {hash_bytes(scratch, 0), hash_bytes(scratch, 1)};
}

}  // namespace ringshard::portable
