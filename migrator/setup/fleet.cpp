#include "setup/fleet.hpp"

#include <chrono>
#include <ringshard/error.hpp>

namespace ringshard::setup {

namespace {

/// Nobody else writes in a keyspace that is being set up, but for a setup that should have stopped.
constexpr std::chrono::seconds lock_wait_max{10};

}  // namespace

NewFleet::NewFleet(const Topology& topology, const BackendOptions& options, Clock& clock)
    : topology_(topology), clock_(clock) {
  for (const NodeInfo& node : topology_.nodes())
    backends_.push_back(open_backend(node.dsn, clock, options));
  for (const auto& backend : backends_) backend->prepare_node();
}

Place NewFleet::shard_home(ShardId shard) const {
  return {topology_.node_of(shard).value, HomeName{topology_.keyspace(), shard}};
}

Place NewFleet::reference_home(std::size_t node) const {
  return {node, HomeName{topology_.keyspace(), std::nullopt}};
}

std::vector<std::string> NewFleet::homes_found() {
  std::vector<std::string> found;
  for (std::size_t node = 0; node < node_count(); ++node)
    for (const HomeName& home : backend(node).homes(topology_.keyspace()))
      found.push_back(home.str() + " on node " + node_name(node));
  return found;
}

void NewFleet::drop_homes(Progress& progress) {
  std::vector<Place> places;
  for (std::size_t node = 0; node < node_count(); ++node)
    for (HomeName& home : backend(node).homes(topology_.keyspace()))
      places.push_back({node, std::move(home)});
  const auto total = static_cast<std::int64_t>(places.size());
  std::int64_t done = 0;
  for (const Place& place : places) {
    backend(place.node).drop_home(place.home);
    progress.report("drop what an earlier setup left", ++done, total, "homes");
  }
}

void NewFleet::make_homes(const Schemas& schemas, Progress& progress) {
  const auto schema_of = [&](std::size_t node) -> const KeyspaceSchema& {
    return schemas.find(backend(node).dialect().engine())->second;
  };
  const std::int64_t shards = topology_.shard_count();
  for (std::size_t node = 0; node < node_count(); ++node)
    if (const HomeSchema& reference = schema_of(node).reference; !reference.statements.empty())
      backend(node).create_home(reference_home(node).home, std::nullopt, reference);
  for (std::int64_t i = 0; i < shards; ++i) {
    const ShardId shard{static_cast<std::uint32_t>(i)};
    const Place place = shard_home(shard);
    HomeRecord record;
    record.keyspace = topology_.keyspace();
    record.shard = shard;
    backend(place.node).create_home(place.home, record, schema_of(place.node).home);
    progress.report("make homes", i + 1, shards, "homes");
  }
}

std::unique_ptr<NewFleet::Work> NewFleet::begin(const Place& place, TxMode mode) {
  auto work = std::make_unique<Work>();
  Backend& node = backend(place.node);
  work->session = node.connect(place.home, SessionUse::maintenance);
  work->tx = std::make_unique<SessionTransaction>(*work->session, place.home, mode,
                                                  Deadline::after(clock_, lock_wait_max));
  work->store = std::make_unique<HomeStore>(*work->session, node.dialect());
  return work;
}

void Loader::add(ShardId shard, const Table& table, RowView row) {
  add(shards_[shard], table, row);
  if (bytes_ >= bytes_max_) flush();
}

void Loader::add_to_all(const Table& table, RowView row) {
  add(reference_, table, row);
  if (bytes_ >= bytes_max_) flush();
}

void Loader::add(Rows& rows, const Table& table, RowView row) {
  RowBatch& batch = rows[&table];
  const std::size_t before = batch.bytes();
  batch.append(row);
  bytes_ += batch.bytes() - before;
}

void Loader::flush() {
  before_writing_();
  for (auto& [shard, rows] : shards_) write(fleet_.shard_home(shard), rows);
  if (!reference_.empty())
    for (std::size_t node = 0; node < fleet_.node_count(); ++node)
      write(fleet_.reference_home(node), reference_);
  shards_.clear();
  reference_.clear();
  bytes_ = 0;
}

void Loader::write(const Place& place, Rows& rows) {
  const auto work = fleet_.begin(place, TxMode::write);
  for (auto& [table, batch] : rows) {
    const std::int64_t inserted = work->store->insert_missing(*table, batch);
    if (inserted != static_cast<std::int64_t>(batch.size()))
      throw Error(ErrorCode::differs,
                  "home " + place.home.str() + " took " + std::to_string(inserted) + " of " +
                      std::to_string(batch.size()) + " rows of table '" + table->name +
                      "': others with their keys were there already");
  }
  work->tx->commit();
}

}  // namespace ringshard::setup
