#include "migrator/commands/fleet.hpp"

#include <ringshard/error.hpp>
#include <utility>
#include <vector>

#include "setup/setup.hpp"

namespace ringshard::cli {
namespace {

/// What is fixed for ever when a keyspace is made.
void require_same_keyspace(const KeyspaceConfig& config, const KeyspaceDefinition& stored) {
  std::string text;
  const auto compare = [&](const std::string& what, const std::string& here,
                           const std::string& there) {
    if (here != there) text += "\n  " + what + " is " + here + " here and " + there + " there";
  };
  compare("key", KeySpec::parse(config.key).to_string(),
          KeySpec::parse(stored.key_type).to_string());
  compare("hash", config.hash, std::string(ringshard::to_string(stored.hash)));
  compare("shards", std::to_string(config.shards), std::to_string(stored.shard_count));
  if (!text.empty())
    throw Error(ErrorCode::refused, "the configuration and the catalog disagree about keyspace '" +
                                        stored.name + "', and this can never be changed:" + text);
}

}  // namespace

Config read_config(const CommonOptions& options) {
  try {
    return load_config(options.config);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
    throw Error(ErrorCode::config, error.what());
  }
}

OpenFleet open_fleet(const CommonOptions& options, Clock& clock) {
  return open_fleet(read_config(options), clock);
}

OpenFleet open_fleet(Config config, Clock& clock) {
  Catalog catalog = Catalog::open(config.catalog, clock);
  const auto keyspace = catalog.keyspace(config.keyspace.name);
  if (!keyspace)
    throw Error(ErrorCode::not_found, "the catalog " + redact(config.catalog) +
                                          " has no keyspace '" + config.keyspace.name +
                                          "': run `ringshard init` or `ringshard import`");
  require_same_keyspace(config.keyspace, *keyspace);
  Topology topology = catalog.topology(keyspace->name);
  Nodes nodes(topology.nodes(), clock, to_backend_options(config));
  return OpenFleet{std::move(config), std::move(catalog), *keyspace, std::move(topology),
                   std::move(nodes)};
}

MoveOptions move_options(const Config& config) {
  const MoveConfig& move = config.move;
  MoveOptions options;
  options.chunk_rows = move.chunk_rows;
  options.chunk_bytes = static_cast<std::size_t>(move.chunk_bytes);
  options.change_log_rows_max = static_cast<std::int64_t>(move.change_log_rows_max);
  options.lease = move.lease;
  options.observe_for = move.observe_for;
  options.repair = move.repair;
  options.cutover.pause_budget = move.cutover.pause_budget;
  options.cutover.lock_timeout = move.cutover.lock_timeout;
  options.cutover.retry_delay = move.cutover.retry_delay;
  options.cutover.attempts_max = static_cast<int>(move.cutover.attempts_max);
  return options;
}

MoveRecord find_move(Catalog& catalog, std::string_view keyspace, const std::string& id) {
  std::vector<MoveRecord> found;
  for (MoveRecord& move : catalog.moves(keyspace, false)) {
    if (move.id == id) return std::move(move);
    if (!id.empty() && move.id.starts_with(id)) found.push_back(std::move(move));
  }
  if (found.size() == 1) return std::move(found.front());
  if (found.empty())
    throw Error(ErrorCode::not_found,
                "there is no move '" + id + "'; `ringshard status --all` lists the moves");
  throw Error(ErrorCode::invalid_argument, "'" + id + "' is the beginning of " +
                                               std::to_string(found.size()) +
                                               " moves: give more of the id");
}

bool is_being_run(const MoveRecord& move, Clock& clock) {
  return !move.lease_holder.empty() && move.lease_until_ms > clock.unix_ms();
}

void read_home(Backend& backend, const HomeName& home,
               const std::function<void(HomeStore&, const std::optional<HomeRecord>&)>& work) {
  const std::unique_ptr<Session> session = backend.connect(home, SessionUse::maintenance);
  HomeStore store(*session, backend.dialect());
  SessionTransaction tx(*session, home, TxMode::read, Deadline());
  work(store, tx.record());
}

}  // namespace ringshard::cli
