#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringshard::core {

/// Appends the `width` (at most eight) low bytes of `number`, lowest first, on every machine.
inline void append_little_endian(std::string& out, std::uint64_t number, std::size_t width) {
  char bytes[8];
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((number >> (8 * i)) & 0xffU);
  out.append(bytes, width);
}

/// The number whose bytes, lowest first, are `bytes` (at most eight).
inline std::uint64_t read_little_endian(std::string_view bytes) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return number;
}

/// Two lower-case hexadecimal digits a byte.
inline void append_hex(std::string& out, std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    out.push_back(digits[number >> 4U]);
    out.push_back(digits[number & 0xfU]);
  }
}

/// The value of a hexadecimal digit of either case, or -1.
inline int hex_digit(char digit) noexcept {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

}  // namespace ringshard::core
