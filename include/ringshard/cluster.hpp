#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <ringshard/ids.hpp>
#include <ringshard/key.hpp>
#include <ringshard/rows.hpp>
#include <ringshard/topology.hpp>
#include <ringshard/transaction.hpp>
#include <ringshard/value.hpp>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ringshard {

class Backend;
class Clock;

namespace router {
class Router;
}

/// How long a call may take and how often it is tried. What is not given comes from the
/// configuration.
struct TransactOptions {
  /// From the call on, all retries and waits included; router.deadline if not given. A statement
  /// that still runs at that moment is stopped. The time of the caller's own function is not cut
  /// short.
  std::optional<std::chrono::milliseconds> deadline = {};

  /// How often the work is begun, at most, where a lock, a connection or a serialization failure
  /// stands in the way. Looking for a shard that has moved does not count: the deadline ends that.
  std::uint32_t attempts_max = 100;
};

struct QueryOptions {
  std::optional<std::chrono::milliseconds> deadline = {};

  /// False: take the answer from where the shard was last known to be, without asking whether that
  /// home still is the owner. Right after a move such an answer can be stale by what the reverse
  /// mirror lags behind (usually the writes under way, more while the old node is unreachable, and
  /// what happened since the old home was removed until this router reads the new placement). Only
  /// for reads that can bear it.
  bool check_owner = true;
};

struct ScatterOptions {
  /// From the call on. A shard that was not begun by then is answered with Error{timeout}.
  std::optional<std::chrono::milliseconds> deadline = {};

  /// Shards asked at the same time; router.scatter_parallelism if not given.
  std::optional<std::uint32_t> parallelism = {};

  /// Of these, at one node: what keeps a slow node from taking all. 0: half of the parallelism, at
  /// least 1.
  std::uint32_t per_node_max = 0;

  /// As in TransactOptions, for each shard; looking for one that has moved counts here too.
  std::uint32_t attempts_max = 3;
};

/// What one shard answered in a scatter.
template <class T>
struct ShardReply {
  static_assert(!std::is_same_v<T, Error>, "an Error is how a failure is told");

  ShardId shard;
  std::variant<T, Error> result;

  bool ok() const noexcept { return result.index() == 0; }
  /// Nothing if the shard answered.
  const Error* error() const noexcept { return std::get_if<1>(&result); }
  /// Throws the shard's Error if it failed.
  const T& value() const {
    if (const Error* failure = error()) throw Error(*failure);
    return std::get<0>(result);
  }
};

/// What a Cluster has done since it was opened. Each number grows by itself; they are not one
/// snapshot.
struct RouterStatistics {
  std::uint64_t writes = 0;           ///< transactions committed
  std::uint64_t reads = 0;            ///< read transactions answered
  std::uint64_t mirror_writes = 0;    ///< double writes whose second half arrived
  std::uint64_t mirror_failures = 0;  ///< … did not: the change log keeps the entry
  std::uint64_t mirror_skips =
      0;  ///< … was not tried, as the peer keeps failing or the change is too large
  std::uint64_t mirror_drops = 0;  ///< … was not wanted: the peer is in another leg by now
  std::uint64_t redirects = 0;     ///< calls that found their shard elsewhere than expected
  std::uint64_t retries = 0;       ///< attempts after the first one
  std::uint64_t refreshes = 0;     ///< topologies read from the catalog
  std::uint64_t finished_handovers =
      0;  ///< cutovers whose mover died between decision and promotion
  std::uint64_t captures_given_up = 0;  ///< change logs that grew past move.change_log_rows_max
};

/// For tests and unusual hosts; a service leaves this as it is.
struct ClusterOptions {
  Clock* clock = nullptr;  ///< the system's clock if not given; must outlive the Cluster
  /// Opens the database of a node from its DSN; what the DSN's scheme says if not given.
  std::function<std::shared_ptr<Backend>(const std::string& dsn)> open_backend;
};

/// The router: finds the shard of a key and runs work on it, on whichever node owns it at that
/// moment, also while it is being moved. Thread-safe: one Cluster for the whole process, used from
/// all threads. It has to outlive every call into it. It owns its connections, one background
/// thread that watches the catalog, and the file router.topology_cache.
///
///     #include <ringshard/ringshard.hpp>
///
///     std::int64_t add_invoice(ringshard::Cluster& cluster, std::int64_t customer, double total) {
///       return cluster.transact(customer, [&](ringshard::Transaction& tx) {
///         tx.execute("INSERT INTO invoice (customer_id, total) VALUES ($1, $2)", customer, total);
///         return tx.query_value<std::int64_t>(
///             "SELECT count(*) FROM invoice WHERE customer_id = $1", customer);
///       });
///     }
///
///     int main() {
///       ringshard::Cluster cluster = ringshard::Cluster::open("ringshard.yaml");
///       add_invoice(cluster, 42, 9.99);
///       return cluster.scatter_sum("SELECT count(*) FROM invoice") > 0 ? 0 : 1;
///     }
///
/// What is promised: a write is acknowledged only after it was committed at the shard's owner,
/// which was checked inside that very transaction; a read is one snapshot of the owner. The failure
/// or slowness of a mirror, of the catalog or of another node never fails a write.
///
/// Work may run more than once: after a conflict (a deadlock or a serialization failure) its
/// transaction is rolled back and it is run again, so it must not have effects outside of its
/// Transaction. Work is never run again after it threw something of its own, nor after
/// Error{outcome_unknown}.
///
/// A function must not begin another write to the same shard: on SQLite that waits for itself until
/// the deadline.
class Cluster {
 public:
  /// Reads the topology from the catalog. If that can not be reached, from router.topology_cache,
  /// with a warning in the log. Error{unavailable} if there is none either; Error{refused} if the
  /// cached one belongs to another keyspace or the keyspace is being imported; Error{config},
  /// Error{not_found}, … of what the configuration names.
  static Cluster open(const Config& config, const ClusterOptions& options = {});
  static Cluster open(const std::filesystem::path& config_path, const ClusterOptions& options = {});

  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();

  // --- routing; no I/O
  /// Error{invalid_argument} if the key is not of the keyspace's kind.
  Route route(const Key& key) const;
  ShardId shard_of(const Key& key) const { return route(key).shard; }
  std::uint32_t shard_count() const;
  std::shared_ptr<const Topology> topology() const;

  // --- work on one shard
  /// Runs `work` (Transaction& → T) in a write transaction on the owner of the key and returns what
  /// it returns once that is committed. Errors: what `work` throws, after the rollback; Error of
  /// the database; not_owner, conflict, pool_exhausted or unavailable if the deadline came first,
  /// with nothing done; outcome_unknown if the connection was lost during the commit.
  /// Error::shard() says where.
  template <class Work>
  auto transact(const Key& key, Work&& work, const TransactOptions& options = {}) {
    return transact(shard_of(key), std::forward<Work>(work), options);
  }
  template <class Work>
  auto transact(ShardId shard, Work&& work, const TransactOptions& options = {}) {
    return returning<Transaction>(
        work, [&](const WriteWork& untyped) { run_write(shard, untyped, options); });
  }

  /// Runs `work` (ReadTransaction& → T) in one snapshot of the owner. Takes no lock. Errors as
  /// above.
  template <class Work>
  auto read(const Key& key, Work&& work, const TransactOptions& options = {}) {
    return read(shard_of(key), std::forward<Work>(work), options);
  }
  template <class Work>
  auto read(ShardId shard, Work&& work, const TransactOptions& options = {}) {
    return returning<ReadTransaction>(
        work, [&](const ReadWork& untyped) { run_read(shard, untyped, options); });
  }

  // --- one statement (transaction.hpp says what the parameters and results may be)
  template <class... P>
  std::int64_t execute(const Key& key, std::string_view sql, const P&... parameters) {
    return execute(shard_of(key), sql, parameters...);
  }
  template <class... P>
  std::int64_t execute(ShardId shard, std::string_view sql, const P&... parameters) {
    return transact(shard, [&](Transaction& tx) { return tx.execute(sql, parameters...); });
  }

  template <class... P>
  Rows query(const Key& key, std::string_view sql, const P&... parameters) {
    return query(QueryOptions{}, shard_of(key), sql, parameters...);
  }
  template <class... P>
  Rows query(ShardId shard, std::string_view sql, const P&... parameters) {
    return query(QueryOptions{}, shard, sql, parameters...);
  }
  /// query({.check_owner = false}, key, sql, …)
  template <class... P>
  Rows query(const QueryOptions& options, const Key& key, std::string_view sql,
             const P&... parameters) {
    return query(options, shard_of(key), sql, parameters...);
  }
  template <class... P>
  Rows query(const QueryOptions& options, ShardId shard, std::string_view sql,
             const P&... parameters) {
    return run_query(options, shard, sql, detail::to_parameters(parameters...));
  }

  template <class... T, class... P>
  std::optional<typename detail::ResultOf<T...>::Type> query_optional(const Key& key,
                                                                      std::string_view sql,
                                                                      const P&... parameters) {
    return detail::optional_of<T...>(query(key, sql, parameters...));
  }
  template <class... T, class... P>
  std::optional<typename detail::ResultOf<T...>::Type> query_optional(ShardId shard,
                                                                      std::string_view sql,
                                                                      const P&... parameters) {
    return detail::optional_of<T...>(query(shard, sql, parameters...));
  }
  template <class... T, class... P>
  typename detail::ResultOf<T...>::Type query_value(const Key& key, std::string_view sql,
                                                    const P&... parameters) {
    return detail::value_of<T...>(query(key, sql, parameters...));
  }
  template <class... T, class... P>
  typename detail::ResultOf<T...>::Type query_value(ShardId shard, std::string_view sql,
                                                    const P&... parameters) {
    return detail::value_of<T...>(query(shard, sql, parameters...));
  }

  // --- all shards
  /// Runs `work` (ShardId, ReadTransaction& → T) on every shard, several at a time, each in a
  /// snapshot of its own, and returns one reply for each, by shard. `work` is called from several
  /// threads at once. What fails at a shard is that shard's reply; only an exception that is no
  /// Error is thrown, the first of them, after all have ended.
  template <class Work>
  auto scatter(Work&& work, const ScatterOptions& options = {}) {
    using T = std::invoke_result_t<Work&, ShardId, ReadTransaction&>;
    static_assert(!std::is_void_v<T> && !std::is_reference_v<T>, "return a value");
    std::vector<ShardReply<T>> replies;
    std::vector<std::optional<T>> values;
    // Each element of values is touched by one thread only.
    std::vector<std::optional<Error>> errors = run_scatter(
        [&](std::size_t shards) { values.resize(shards); },
        [&](ShardId shard, ReadTransaction& tx) { values[shard.value] = work(shard, tx); },
        options);
    replies.reserve(values.size());
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      if (errors[i]) {
        replies.push_back({ShardId{i}, std::move(*errors[i])});
      } else {
        replies.push_back({ShardId{i}, std::move(*values[i])});
      }
    }
    return replies;
  }

  /// The sum over all shards of the one value that `sql` gives on each (count(*), sum(total)); NULL
  /// is 0. Throws the Error of the first shard that failed: a part of a sum is no answer.
  /// Error{sql} if integers overflow.
  template <class T = std::int64_t, class... P>
  T scatter_sum(std::string_view sql, const P&... parameters) {
    static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>);
    const auto replies = scatter([&](ShardId, ReadTransaction& tx) {
      return tx.query_value<std::optional<T>>(sql, parameters...).value_or(T{});
    });
    T sum{};
    for (const auto& reply : replies) sum = add(sum, reply.value());
    return sum;
  }

  // --- keeping up with the catalog
  /// Reads the topology from the catalog now, and returns when one that was read after this call
  /// began is in use. Error{unavailable} if the catalog can not be reached, Error{timeout} if it
  /// took longer than router.deadline. No need to call it: a home says by itself that its shard has
  /// moved.
  void refresh();

  RouterStatistics statistics() const;

 private:
  using WriteWork = std::function<void(Transaction&)>;
  using ReadWork = std::function<void(ReadTransaction&)>;
  using ScatterWork = std::function<void(ShardId, ReadTransaction&)>;

  explicit Cluster(std::unique_ptr<router::Router> router);

  // Turns work that returns something into work that does not, and back.
  template <class Tx, class Work, class Run>
  static auto returning(Work& work, const Run& run) {
    using T = std::invoke_result_t<Work&, Tx&>;
    static_assert(!std::is_reference_v<T>, "the transaction is over when the call returns");
    if constexpr (std::is_void_v<T>) {
      run([&work](Tx& tx) { work(tx); });
    } else {
      std::optional<T> result;
      run([&work, &result](Tx& tx) { result.emplace(work(tx)); });
      return std::move(*result);
    }
  }

  static std::int64_t add(std::int64_t left, std::int64_t right);
  static double add(double left, double right) { return left + right; }

  void run_write(ShardId shard, const WriteWork& work, const TransactOptions& options);
  void run_read(ShardId shard, const ReadWork& work, const TransactOptions& options);
  Rows run_query(const QueryOptions& options, ShardId shard, std::string_view sql,
                 std::span<const ValueView> parameters);
  std::vector<std::optional<Error>> run_scatter(const std::function<void(std::size_t)>& prepare,
                                                const ScatterWork& work,
                                                const ScatterOptions& options);

  std::unique_ptr<router::Router> router_;
};

}  // namespace ringshard
