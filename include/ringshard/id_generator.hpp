#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <ringshard/ids.hpp>

namespace ringshard {

/// What an id of an IdGenerator is made of.
struct IdParts {
  std::int64_t unix_ms = 0;  ///< when it was made, about
  std::uint32_t sequence = 0;
  std::uint32_t worker = 0;
  ShardId shard;

  friend bool operator==(const IdParts&, const IdParts&) = default;
};

struct IdGeneratorOptions {
  std::uint32_t shard_count = shard_count_default;  ///< of the keyspace: 1 … 2^16
  /// Which of the processes that make ids at the same time this is, 0 … 31: two with the same
  /// number may make the same id.
  std::uint32_t worker = 0;
  /// The greatest id that this worker may have made before, as the tables have it: a process that
  /// starts again on a clock that was set back goes on behind it. 0: none.
  std::int64_t after = 0;
  /// Milliseconds since 1970; empty: the system's clock.
  std::function<std::int64_t()> unix_ms = {};
};

/// Ids of 64 bits that no other process makes, that grow, and that tell the shard of their row:
///
///     IdGenerator ids({.shard_count = 1024, .worker = 3});
///     const std::int64_t id = ids.next(cluster.topology().shard_of(customer));
///     tx.execute("INSERT INTO invoice (id, …) VALUES ($1, …)", id, …);
///
/// From the top: a sign that is 0, 41 bits of milliseconds since the beginning of 2020 in UTC
/// (until 2089), a sequence, 5 bits of worker, and as many bits as the greatest shard needs (10 for
/// 1024 shards); the sequence has the rest, 7 bits with 1024 shards. So ids of one process grow
/// whatever their shards are, and those of several are in order within a millisecond of their
/// clocks. The layout is a stored format: it never changes for a number of shards.
///
/// When a millisecond's sequence is used up, or the clock steps back, time goes on by itself from
/// the last id, without waiting; it is the clock's again as soon as that has caught up.
/// Thread-safe, and without a lock. The scheme is that of Snowflake, with the shard in it as
/// Instagram has it.
class IdGenerator {
 public:
  /// Error{invalid_argument} for a worker or a number of shards that has no room.
  explicit IdGenerator(const IdGeneratorOptions& options);

  /// Error{invalid_argument} for a shard that the keyspace does not have.
  std::int64_t next(ShardId shard);

  /// Takes an id apart. Error{invalid_argument} for one that is negative or of a shard that there
  /// is not.
  IdParts parts(std::int64_t id) const;

 private:
  const std::uint32_t shard_count_;
  const int shard_bits_;
  const std::uint32_t worker_;
  const std::function<std::int64_t()> unix_ms_;
  std::atomic<std::uint64_t> last_;  // time and sequence of the newest id
};

}  // namespace ringshard
