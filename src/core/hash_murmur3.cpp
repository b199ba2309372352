#include <bit>

#include "core/bytes.hpp"
#include "core/hash_functions.hpp"

namespace ringshard::core {

namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5ULL;
constexpr std::uint64_t c2 = 0x4cf5ad432745937fULL;

constexpr std::uint64_t mix_first(std::uint64_t k1) noexcept { return std::rotl(k1 * c1, 31) * c2; }

constexpr std::uint64_t mix_second(std::uint64_t k2) noexcept {
  return std::rotl(k2 * c2, 33) * c1;
}

constexpr std::uint64_t finish(std::uint64_t k) noexcept {
  k ^= k >> 33U;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33U;
  k *= 0xc4ceb9fe1a85ec53ULL;
  k ^= k >> 33U;
  return k;
}

}  // namespace

std::uint64_t murmur3_x64_128_h1(std::string_view bytes, std::uint64_t seed) noexcept {
  std::uint64_t h1 = seed;
  std::uint64_t h2 = seed;
  std::string_view rest = bytes;
  for (; rest.size() >= 16; rest.remove_prefix(16)) {
    h1 ^= mix_first(read_little_endian(rest.substr(0, 8)));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= mix_second(read_little_endian(rest.substr(8, 8)));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  if (rest.size() > 8) h2 ^= mix_second(read_little_endian(rest.substr(8)));
  h1 ^= mix_first(read_little_endian(rest.substr(0, 8)));

  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  return finish(h1) + finish(h2);
}

}  // namespace ringshard::core
