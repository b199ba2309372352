#include <algorithm>
#include <bit>
#include <ringshard/error.hpp>
#include <ringshard/id_generator.hpp>
#include <string>
#include <utility>

#include "support/clock.hpp"

namespace ringshard {

namespace {

constexpr std::int64_t epoch_ms = 1'577'836'800'000;  // 2020-01-01T00:00:00Z
constexpr int time_bits = 41;
constexpr int worker_bits = 5;
constexpr int low_bits = 63 - time_bits;  // of sequence, worker and shard
constexpr std::uint32_t worker_max = (1U << worker_bits) - 1;
constexpr std::uint32_t shards_max = 1U << 16U;  // beyond it no sequence would be left

int bits_for(std::uint32_t shard_count) {
  if (shard_count == 0 || shard_count > shards_max)
    throw Error(ErrorCode::invalid_argument, "ids have room for 1 to " +
                                                 std::to_string(shards_max) + " shards, not " +
                                                 std::to_string(shard_count));
  return std::bit_width(shard_count - 1);
}

std::uint32_t checked_worker(std::uint32_t worker) {
  if (worker > worker_max)
    throw Error(ErrorCode::invalid_argument, "a worker of an IdGenerator is 0 to " +
                                                 std::to_string(worker_max) + ", not " +
                                                 std::to_string(worker));
  return worker;
}

}  // namespace

IdGenerator::IdGenerator(const IdGeneratorOptions& options)
    : shard_count_(options.shard_count),
      shard_bits_(bits_for(options.shard_count)),
      worker_(checked_worker(options.worker)),
      unix_ms_(options.unix_ms ? options.unix_ms : [] { return system_clock().unix_ms(); }),
      last_(static_cast<std::uint64_t>(std::max<std::int64_t>(options.after, 0)) >>
            static_cast<unsigned>(worker_bits + shard_bits_)) {}

std::int64_t IdGenerator::next(ShardId shard) {
  if (shard.value >= shard_count_)
    throw Error(ErrorCode::invalid_argument, "there is no shard " + std::to_string(shard.value) +
                                                 " among " + std::to_string(shard_count_));
  const auto own_bits = static_cast<unsigned>(worker_bits + shard_bits_);
  const unsigned sequence_bits = static_cast<unsigned>(low_bits) - own_bits;
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(unix_ms_() - epoch_ms, 0))
                   << sequence_bits;
  // Each thread gets a number of its own, greater than all before: one more than the last, or the
  // first of this millisecond. A sequence that is used up flows over into the time.
  std::uint64_t last = last_.load(std::memory_order_relaxed);
  std::uint64_t mine = 0;
  do {
    mine = std::max(last + 1, now);
  } while (!last_.compare_exchange_weak(last, mine, std::memory_order_relaxed));
  return static_cast<std::int64_t>(mine << own_bits |
                                   std::uint64_t{worker_} << static_cast<unsigned>(shard_bits_) |
                                   shard.value);
}

IdParts IdGenerator::parts(std::int64_t id) const {
  const auto bits = static_cast<std::uint64_t>(id);
  const auto take = [bits](unsigned shift, unsigned width) {
    return static_cast<std::uint32_t>(bits >> shift & ((std::uint64_t{1} << width) - 1));
  };
  const auto shard_bits = static_cast<unsigned>(shard_bits_);
  const unsigned own_bits = shard_bits + worker_bits;
  IdParts parts;
  parts.shard = ShardId{take(0, shard_bits)};
  parts.worker = take(shard_bits, worker_bits);
  parts.sequence = take(own_bits, low_bits - own_bits);
  parts.unix_ms = static_cast<std::int64_t>(bits >> static_cast<unsigned>(low_bits)) + epoch_ms;
  if (id < 0 || parts.shard.value >= shard_count_)
    throw Error(ErrorCode::invalid_argument, "no IdGenerator of " + std::to_string(shard_count_) +
                                                 " shards made the id " + std::to_string(id));
  return parts;
}

}  // namespace ringshard
