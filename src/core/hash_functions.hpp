#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ringshard::core {

/// h1 of MurmurHash3_x64_128 by Austin Appleby (public domain, SMHasher), started with
/// h1 = h2 = seed, which is the original where the seed has 32 bits.
std::uint64_t murmur3_x64_128_h1(std::string_view bytes, std::uint64_t seed) noexcept;

/// FNV-1a, 64 bits: offset basis 0xcbf29ce484222325, prime 0x100000001b3. `state` continues one.
inline constexpr std::uint64_t fnv1a_basis = 0xcbf29ce484222325ULL;
std::uint64_t fnv1a_64(std::string_view bytes, std::uint64_t state = fnv1a_basis) noexcept;

/// CRC-32 as zlib's crc32(): reflected polynomial 0xEDB88320. `crc` continues one, as in zlib.
std::uint32_t crc32(std::string_view bytes, std::uint32_t crc = 0) noexcept;

/// MD5 of `first` followed by `second` (RFC 1321). For placement only: MD5 is broken as a
/// cryptographic hash.
std::array<std::uint8_t, 16> md5(std::string_view first, std::string_view second = {});

}  // namespace ringshard::core
