#include <array>
#include <ringshard/hash.hpp>
#include <string>

#include "core/hash_inline.hpp"

namespace ringshard {

namespace {

constexpr std::array<HashStrategy, 6> all_strategies = {HashStrategy::xxh3,  HashStrategy::murmur3,
                                                        HashStrategy::fnv1a, HashStrategy::crc32,
                                                        HashStrategy::md5,   HashStrategy::modulo};

std::uint64_t ketama_point(const std::array<std::uint8_t, 16>& digest) noexcept {
  const std::uint32_t low = std::uint32_t{digest[0]} | std::uint32_t{digest[1]} << 8U |
                            std::uint32_t{digest[2]} << 16U | std::uint32_t{digest[3]} << 24U;
  return std::uint64_t{low} << 32U;
}

}  // namespace

namespace core {

std::uint64_t hash_bytes(HashStrategy strategy, std::string_view bytes, std::uint64_t seed,
                         bool first) {
  const auto seed_bytes = little_endian_bytes(seed);
  const std::string_view before(seed_bytes.data(), first ? 0 : seed_bytes.size());
  switch (strategy) {
    case HashStrategy::xxh3:
      return xxh3(bytes, seed);
    case HashStrategy::murmur3:
      return murmur3_x64_128_h1(bytes, seed);
    case HashStrategy::fnv1a:
      return fnv1a_64(bytes, fnv1a_64(before));
    case HashStrategy::crc32:
      return std::uint64_t{crc32(bytes, crc32(before))} << 32U;
    case HashStrategy::md5:
      return ketama_point(md5(before, bytes));
    case HashStrategy::modulo:
      break;
  }
  throw Error(ErrorCode::internal, "modulo hashes no bytes");
}

void refuse_modulo(const Key& key) {
  throw Error(ErrorCode::invalid_argument,
              "the hash strategy modulo takes integer keys only, and the key " + describe(key) +
                  " is of type " + std::string(to_string(key.type())) +
                  ": choose another strategy (xxh3) for this keyspace");
}

}  // namespace core

std::span<const HashStrategy> hash_strategies() noexcept { return all_strategies; }

std::string_view to_string(HashStrategy strategy) noexcept {
  switch (strategy) {
    case HashStrategy::xxh3:
      return "xxh3";
    case HashStrategy::murmur3:
      return "murmur3";
    case HashStrategy::fnv1a:
      return "fnv1a";
    case HashStrategy::crc32:
      return "crc32";
    case HashStrategy::md5:
      return "md5";
    case HashStrategy::modulo:
      return "modulo";
  }
  return "xxh3";
}

HashStrategy parse_hash_strategy(std::string_view name) {
  std::string known;
  for (const HashStrategy strategy : all_strategies) {
    if (name == to_string(strategy)) return strategy;
    known += (known.empty() ? "" : ", ") + std::string(to_string(strategy));
  }
  throw Error(ErrorCode::invalid_argument,
              "unknown hash strategy " + describe(ValueView(name)) + ": use one of " + known);
}

std::uint64_t hash_key(HashStrategy strategy, const Key& key) {
  return core::hash_of(strategy, key);
}

ShardId shard_of_hash(HashStrategy strategy, std::uint64_t hash, std::uint32_t shard_count) {
  if (shard_count < 1 || shard_count > shard_count_max) {
    throw Error(ErrorCode::invalid_argument,
                "the number of shards is " + std::to_string(shard_count) +
                    ", but it has to lie in 1 … " + std::to_string(shard_count_max));
  }
  return core::shard_of_hash(strategy, hash, shard_count);
}

ShardId shard_of(HashStrategy strategy, const Key& key, std::uint32_t shard_count) {
  return shard_of_hash(strategy, hash_key(strategy, key), shard_count);
}

}  // namespace ringshard
