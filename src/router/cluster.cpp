#include <ringshard/cluster.hpp>
#include <string>
#include <utility>

#include "router/router.hpp"
#include "router/scatter.hpp"

namespace ringshard {

Cluster::Cluster(std::unique_ptr<router::Router> router) : router_(std::move(router)) {}
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

Cluster Cluster::open(const Config& config, const ClusterOptions& options) {
  return Cluster(std::make_unique<router::Router>(config, options));
}

Cluster Cluster::open(const std::filesystem::path& config_path, const ClusterOptions& options) {
  return open(load_config(config_path), options);
}

Route Cluster::route(const Key& key) const { return router_->view()->topology().route(key); }

std::uint32_t Cluster::shard_count() const { return router_->view()->topology().shard_count(); }

std::shared_ptr<const Topology> Cluster::topology() const {
  return router_->view()->shared_topology();
}

void Cluster::refresh() { router_->refresh(); }

RouterStatistics Cluster::statistics() const { return router_->statistics(); }

std::int64_t Cluster::add(std::int64_t left, std::int64_t right) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) {
    throw Error(ErrorCode::sql, "the sum over all shards does not fit into 64 bits");
  }
  return sum;
}

void Cluster::run_write(ShardId shard, const WriteWork& work, const TransactOptions& options) {
  router_->write(shard, work, options);
}

void Cluster::run_read(ShardId shard, const ReadWork& work, const TransactOptions& options) {
  router_->read(shard, work, options);
}

Rows Cluster::run_query(const QueryOptions& options, ShardId shard, std::string_view sql,
                        std::span<const ValueView> parameters) {
  Rows rows;
  const ReadWork work = [&](ReadTransaction& tx) { rows = tx.query_with(sql, parameters); };
  const bool done = !options.check_owner &&
                    router_->read_unchecked(shard, work, router_->deadline_of(options.deadline));
  if (!done) router_->read(shard, work, TransactOptions{.deadline = options.deadline});
  return rows;
}

std::vector<std::optional<Error>> Cluster::run_scatter(
    const std::function<void(std::size_t)>& prepare, const ScatterWork& work,
    const ScatterOptions& options) {
  const std::shared_ptr<const router::View> view = router_->view();
  prepare(view->topology().shard_count());
  return router::scatter(*router_, *view, work, options);
}

}  // namespace ringshard
