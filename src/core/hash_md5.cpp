#include <bit>
#include <cstddef>
#include <string>

#include "core/bytes.hpp"
#include "core/hash_functions.hpp"

namespace ringshard::core {

namespace {

// RFC 1321: floor(2^32 × |sin(i + 1)|).
constexpr std::array<std::uint32_t, 64> sines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

constexpr std::array<std::array<int, 4>, 4> shifts = {
    {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}}};

using State = std::array<std::uint32_t, 4>;

std::uint32_t round_function(std::size_t round, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  switch (round) {
    case 0:
      return (b & c) | (~b & d);
    case 1:
      return (b & d) | (c & ~d);
    case 2:
      return b ^ c ^ d;
    default:
      return c ^ (b | ~d);
  }
}

std::size_t word_of(std::size_t round, std::size_t step) {
  static constexpr std::array<std::size_t, 4> factors = {1, 5, 3, 7};
  static constexpr std::array<std::size_t, 4> offsets = {0, 1, 5, 0};
  return (factors[round] * step + offsets[round]) % 16;
}

void add_block(State& state, std::string_view block) {
  std::array<std::uint32_t, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<std::uint32_t>(read_little_endian(block.substr(4 * i, 4)));
  }
  auto [a, b, c, d] = state;
  for (std::size_t step = 0; step < 64; ++step) {
    const std::size_t round = step / 16;
    const std::uint32_t sum =
        a + round_function(round, b, c, d) + sines[step] + words[word_of(round, step)];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, shifts[round][step % 4]);
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::array<std::uint8_t, 16> md5(std::string_view first, std::string_view second) {
  std::string message;
  message.reserve(first.size() + second.size() + 72);
  message.append(first).append(second);
  const std::uint64_t bits = std::uint64_t{message.size()} * 8;
  message.push_back('\x80');
  message.append((120 - message.size() % 64) % 64, '\0');
  append_little_endian(message, bits, 8);

  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  for (std::string_view rest = message; !rest.empty(); rest.remove_prefix(64)) {
    add_block(state, rest.substr(0, 64));
  }
  std::array<std::uint8_t, 16> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (8 * (i % 4)));
  }
  return digest;
}

}  // namespace ringshard::core
