#pragma once

// The whole way from a key to its hash, to be inlined where a route is a matter of nanoseconds.
// Include it from .cpp files only: it brings all of xxHash along.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ringshard/error.hpp>
#include <ringshard/hash.hpp>
#include <ringshard/key.hpp>
#include <string_view>

#include "core/bytes.hpp"
#include "core/hash_functions.hpp"

namespace ringshard::core {

/// The eight little-endian bytes of a number, as an object to point to.
inline std::array<char, 8> little_endian_bytes(std::uint64_t number) noexcept {
  std::array<char, 8> bytes{};
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(bytes.data(), &number, sizeof number);
  } else {
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((number >> (8 * i)) & 0xffU);
  }
  return bytes;
}

inline std::uint64_t xxh3(std::string_view bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

inline std::uint64_t xxh3(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

/// The hash of one part of a key. `first` is true for the only or first part, whose `seed` is 0.
std::uint64_t hash_bytes(HashStrategy strategy, std::string_view bytes, std::uint64_t seed,
                         bool first);

[[noreturn]] void refuse_modulo(const Key& key);

inline std::uint64_t hash_part(HashStrategy strategy, const Key& part, std::uint64_t seed,
                               bool first) {
  if (part.type() == KeyType::int64) {
    const auto bytes = little_endian_bytes(std::bit_cast<std::uint64_t>(part.integer()));
    const std::string_view view(bytes.data(), bytes.size());
    return strategy == HashStrategy::xxh3 ? xxh3(view, seed)
                                          : hash_bytes(strategy, view, seed, first);
  }
  return strategy == HashStrategy::xxh3 ? xxh3(part.bytes(), seed)
                                        : hash_bytes(strategy, part.bytes(), seed, first);
}

inline std::uint64_t hash_of(HashStrategy strategy, const Key& key) {
  if (strategy == HashStrategy::modulo) {
    if (key.type() != KeyType::int64) refuse_modulo(key);
    return std::bit_cast<std::uint64_t>(key.integer());
  }
  if (key.type() != KeyType::composite) return hash_part(strategy, key, 0, true);
  std::uint64_t hash = 0;
  bool first = true;
  for (const Key& part : key.parts()) {
    hash = hash_part(strategy, part, hash, first);
    first = false;
  }
  return hash;
}

/// Requires 1 ≤ shard_count ≤ shard_count_max.
inline ShardId shard_of_hash(HashStrategy strategy, std::uint64_t hash,
                             std::uint32_t shard_count) noexcept {
  if (strategy != HashStrategy::modulo) return scale_hash(hash, shard_count);
  const std::int64_t count = shard_count;
  const std::int64_t remainder = std::bit_cast<std::int64_t>(hash) % count;
  return ShardId{static_cast<std::uint32_t>(remainder < 0 ? remainder + count : remainder)};
}

}  // namespace ringshard::core
