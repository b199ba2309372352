#pragma once

#include <bit>
#include <cstdint>
#include <ringshard/ids.hpp>
#include <ringshard/key.hpp>
#include <span>
#include <string_view>

namespace ringshard {

/// How the bytes of a key become 64 bits. Chosen by name when a keyspace is made and fixed from
/// then on: the values are a stored format, pinned by tests/core/golden.
enum class HashStrategy : std::uint8_t {
  xxh3,     ///< XXH3_64bits of xxHash 0.8 and later. The default, and what new keyspaces should use
  murmur3,  ///< MurmurHash3_x64_128 (A. Appleby): the first 64 bits of the result, h1
  fnv1a,    ///< FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923). Clumps for short keys
  crc32,    ///< the CRC-32 of zlib, PNG and gzip (polynomial 0xEDB88320), shifted left by 32 bits
  md5,  ///< as ketama takes it: bytes 0 to 3 of the MD5 (RFC 1321), little-endian, shifted left by
        ///< 32
  modulo  ///< the integer key itself; its shard is the remainder, as in `user_id % N`
};

/// All strategies, in the order of the enumeration.
std::span<const HashStrategy> hash_strategies() noexcept;

/// "xxh3", "murmur3", "fnv1a", "crc32", "md5", "modulo".
std::string_view to_string(HashStrategy strategy) noexcept;

/// Throws Error{invalid_argument} that names the text and the strategies there are.
HashStrategy parse_hash_strategy(std::string_view name);

/// The 64-bit hash of the canonical bytes of `key` (key.hpp). The same on every machine.
///
/// Composites chain, so that ("ab","c") and ("a","bc") differ. xxh3 and murmur3 take the hash of
/// one part as the 64-bit seed of the next (the first seed is 0; murmur3 starts with h1 = h2 =
/// seed, which is the original for seeds below 2^32). fnv1a, crc32 and md5 have no seed: from the
/// second part on, the hash so far goes before the bytes of the part, as eight little-endian bytes.
///
/// The two 32-bit strategies are scaled by shifting left, so that multiply-and-shift maps their 32
/// bits evenly: S must then stay far below 2^32, which shard_count_max grants. An integer is hashed
/// as its eight bytes; a fleet that hashes the decimal digits declares its keys as text.
///
/// modulo gives the integer itself, in two's complement, and refuses every other type with
/// Error{invalid_argument}: fleets that shard by `user_id % N` have integer keys, and any hash
/// chosen here for text would not be the one that such a fleet uses.
std::uint64_t hash_key(HashStrategy strategy, const Key& key);

/// What HashStrategy::xxh3 gives for an integer key: XXH3 with seed 0 of eight bytes as xxHash does
/// it for this length (XXH3_len_4to8_64b and XXH3_rrmxmx), on the number itself, which so never has
/// to be in memory.
constexpr std::uint64_t hash_xxh3(std::int64_t key) noexcept {
  constexpr std::uint64_t secret = 0x1cad21f72c81017cULL ^ 0xdb979083e96dd4deULL;
  constexpr std::uint64_t prime = 0x9fb21c651e98df25ULL;
  std::uint64_t hash = std::rotl(static_cast<std::uint64_t>(key), 32) ^ secret;
  hash ^= std::rotl(hash, 49) ^ std::rotl(hash, 24);
  hash *= prime;
  hash ^= (hash >> 35U) + 8;
  hash *= prime;
  return hash ^ (hash >> 28U);
}

/// The upper 64 bits of hash × shard_count; see shard_of_hash(). Requires 1 ≤ shard_count.
constexpr ShardId scale_hash(std::uint64_t hash, std::uint32_t shard_count) noexcept {
  __extension__ using Wide = unsigned __int128;
  return ShardId{static_cast<std::uint32_t>((Wide{hash} * shard_count) >> 64U)};
}

/// The shard, 0 … shard_count-1, that a hash of this strategy belongs to.
///
/// All but modulo: the upper 64 bits of hash × shard_count (D. Lemire, "Fast random integer
/// generation in an interval", 2019), so a shard is a contiguous range of hashes. modulo: the
/// Euclidean remainder, never negative: key -1 of 8 shards is on shard 7.
/// Throws Error{invalid_argument} unless shard_count lies in 1 … shard_count_max.
ShardId shard_of_hash(HashStrategy strategy, std::uint64_t hash, std::uint32_t shard_count);

/// The same for the hash of a key. Throws as hash_key() does, too.
ShardId shard_of(HashStrategy strategy, const Key& key, std::uint32_t shard_count);

}  // namespace ringshard
