#include <array>
#include <cstddef>

#include "core/hash_functions.hpp"

namespace ringshard::core {

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    table[byte] = crc;
  }
  return table;
}

constexpr auto table = make_table();

}  // namespace

std::uint32_t crc32(std::string_view bytes, std::uint32_t crc) noexcept {
  crc = ~crc;
  for (const char byte : bytes) {
    crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xffU] ^ (crc >> 8U);
  }
  return ~crc;
}

std::uint64_t fnv1a_64(std::string_view bytes, std::uint64_t state) noexcept {
  for (const char byte : bytes) {
    state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  }
  return state;
}

}  // namespace ringshard::core
