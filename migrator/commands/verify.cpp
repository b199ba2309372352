#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <ringshard/error.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/home_text.hpp"
#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/commands/fleet.hpp"
#include "migrator/commands/view.hpp"
#include "migrator/doctor/home_scan.hpp"
#include "migrator/doctor/reference.hpp"
#include "migrator/report/format.hpp"
#include "migrator/report/verify_report.hpp"
#include "mover/mover.hpp"

namespace ringshard::cli {
namespace {

constexpr std::size_t misplaced_named_max = 10;

bool has_two_homes(MoveStage stage) {
  return stage == MoveStage::verifying || stage == MoveStage::ready ||
         stage == MoveStage::observing || stage == MoveStage::rolling_back;
}

/// `count` of all shards, each set of them as likely, in ascending order. Not std::sample or
/// std::shuffle, whose choice differs between standard libraries: a seed has to mean the same
/// everywhere.
std::vector<ShardId> sample_of(std::uint32_t shard_count, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> shards(shard_count);
  std::iota(shards.begin(), shards.end(), 0U);
  std::vector<ShardId> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t other = i + static_cast<std::size_t>(random() % (shards.size() - i));
    std::swap(shards[i], shards[other]);
    chosen.push_back(ShardId{shards[i]});
  }
  std::ranges::sort(chosen);
  return chosen;
}

class FleetVerifier {
 public:
  FleetVerifier(OpenFleet& fleet, const VerifyOptions& options, Context& context,
                ProgressView& view)
      : fleet_(fleet), options_(options), context_(context), view_(view) {}

  FleetVerifyReport run() {
    report_.keyspace = fleet_.keyspace.name;
    report_.shards_total = fleet_.topology.shard_count();
    const std::vector<ShardId> shards = choose();
    std::int64_t done = 0;
    for (const ShardId shard : shards) {
      if (context_.stopped()) throw Error(ErrorCode::cancelled, "verification was stopped");
      verify_shard(shard);
      view_.report("verify", ++done, std::ssize(shards), "shards");
    }
    verify_references();
    return std::move(report_);
  }

 private:
  std::vector<ShardId> choose() {
    if (options_.shard) {
      const ShardId shard{*options_.shard};
      static_cast<void>(fleet_.topology.node_of(shard));
      report_.scope = "shard " + std::to_string(shard.value);
      return {shard};
    }
    if (options_.move) {
      const MoveRecord move = find_move(fleet_.catalog, fleet_.keyspace.name, *options_.move);
      report_.scope = "shard " + std::to_string(move.shard.value) + ", of move " + move.id + ",";
      return {move.shard};
    }
    const std::uint32_t total = fleet_.topology.shard_count();
    if (!options_.sample) {
      report_.scope = "all " + count_text(total, "shard", "shards");
      return sample_of(total, total, 0);
    }
    const auto count = std::clamp<std::size_t>(
        static_cast<std::size_t>(std::llround(*options_.sample * total)), 1, total);
    std::random_device device;
    report_.seed = options_.seed ? *options_.seed : device();
    report_.scope =
        "a sample of " + std::to_string(count) + " of " + count_text(total, "shard", "shards");
    return sample_of(total, count, *report_.seed);
  }

  void problem(std::optional<ShardId> shard, const std::string& node, const std::string& text,
               bool repaired = false) {
    report_.problems.push_back({shard, node, text, repaired});
  }

  std::string at(ShardId shard, const std::string& node) const {
    return "home " + fleet_.home_of(shard).str() + " on node '" + node + "'";
  }

  void verify_shard(ShardId shard) {
    try {
      const std::optional<std::string> owner = find_owner(shard);
      if (owner) scan(shard, *owner);
      compare_pair(shard);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) throw;
      const std::string text = "shard " + std::to_string(shard.value) + ": " + error.what();
      if (error.retryable())
        report_.unchecked.push_back(text);
      else
        problem(shard, "", text);
    }
  }

  /// The node that owns a shard, as its home record says. One that is found only behind another
  /// home's peer, with no move to explain it, is a placement that fell behind.
  std::optional<std::string> find_owner(ShardId shard) {
    std::string found_text;
    for (int look = 0; look < 3; ++look) {
      // What was read a moment ago may have been moved since.
      if (look > 0) fleet_.topology = fleet_.catalog.topology(fleet_.keyspace.name);
      const std::string placed = fleet_.node_of(shard);
      const auto record = find_record(fleet_.nodes.at(placed), fleet_.home_of(shard));
      if (record && record->role == Role::owner) return check_record(shard, placed, *record);
      found_text = at(shard, placed) + (record ? " says " + describe(*record) +
                                                     ", the placement says that it is the owner"
                                               : " does not exist");
      const auto move = fleet_.catalog.unfinished_move_of(fleet_.keyspace.name, shard);
      if (!record || record->peer.empty() || !move) continue;
      const auto peer = find_record(fleet_.nodes.at(record->peer), fleet_.home_of(shard));
      if (peer && peer->role == Role::owner) return record->peer;
    }
    problem(shard, fleet_.node_of(shard), found_text + "; see `ringshard doctor`");
    return std::nullopt;
  }

  std::string check_record(ShardId shard, const std::string& node, const HomeRecord& record) {
    if (record.keyspace != fleet_.keyspace.name || record.shard != shard)
      problem(shard, node,
              at(shard, node) + " says that it is shard " + std::to_string(record.shard.value) +
                  " of keyspace '" + record.keyspace + "'");
    if (!record.move_id.empty()) {
      const auto move = fleet_.catalog.move(record.move_id);
      if (!move || is_final(move->stage))
        problem(shard, node,
                at(shard, node) + " (" + describe(record) +
                    ") names a move that is over or unknown; see `ringshard doctor`");
    }
    return node;
  }

  void scan(ShardId shard, const std::string& node) {
    HomeScan scan;
    read_home(fleet_.nodes.at(node), fleet_.home_of(shard),
              [&](HomeStore& store, const std::optional<HomeRecord>&) {
                scan =
                    scan_home(store, fleet_.keyspace, fleet_.topology, shard, misplaced_named_max);
              });
    ++report_.shards_checked;
    if (scan.rows == 0) ++report_.shards_empty;
    report_.rows += scan.rows;
    for (const TableScan& table : scan.tables) report_.tables[table.name] += table.digest;
    for (const MisplacedRow& row : scan.misplaced)
      problem(shard, node, at(shard, node) + ": " + describe(row));
    if (scan.rows_misplaced > std::ssize(scan.misplaced))
      problem(shard, node,
              at(shard, node) + ": " +
                  std::to_string(scan.rows_misplaced - std::ssize(scan.misplaced)) +
                  " more rows whose key belongs to another shard");
    for (const auto& [table, rows] : scan.keyless)
      problem(shard, node,
              at(shard, node) + ": " + count_text(rows, "row", "rows") + " of table " + table +
                  " without a key: no parent here, or NULL or another type in a key column");
  }

  void compare_pair(ShardId shard) {
    const auto move = fleet_.catalog.unfinished_move_of(fleet_.keyspace.name, shard);
    if (!move) return;
    const std::string name = "shard " + std::to_string(shard.value) + ", move " + move->id;
    if (!has_two_homes(move->stage)) {
      report_.notes.push_back(name + ": not compared, since in stage " +
                              std::string(ringshard::to_string(move->stage)) +
                              " it has no two complete homes");
      return;
    }
    if (is_being_run(*move, context_.clock)) {
      report_.notes.push_back(name + ": not compared, since " + move->lease_holder +
                              " runs it and compares it itself");
      return;
    }
    MoveOptions options = move_options(fleet_.config);
    options.repair = options_.repair;
    ObserverForView observer(view_);
    VerifyReport pair;
    try {
      pair = Mover(fleet_.catalog, fleet_.nodes, options, observer).verify(move->id);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::refused) throw;
      const auto now = fleet_.catalog.move(move->id);
      const std::string text = name + ": not compared: " + error.what();
      // Either it went on to another stage a moment ago, or its homes are not what they have to be.
      if (now && now->stage != move->stage)
        report_.notes.push_back(text);
      else
        problem(shard, "", text);
      return;
    }
    ++report_.pairs_compared;
    report_.pairs += pair;
    for (const Difference& difference : pair.samples)
      problem(shard, "", name + ": " + ringshard::describe(difference), pair.equal());
    if (pair.differences > std::ssize(pair.samples))
      problem(shard, "",
              name + ": " + std::to_string(pair.differences - std::ssize(pair.samples)) +
                  " more rows that differ",
              pair.equal());
  }

  void verify_references() {
    report_.reference = compare_references(fleet_);
    for (const ReferenceDifference& difference : report_.reference.differences)
      problem(std::nullopt, difference.node,
              "reference home on node '" + difference.node +
                  "': " + (difference.table.empty() ? "" : "table " + difference.table + " ") +
                  difference.text);
    for (const std::string& text : report_.reference.unreachable)
      report_.unchecked.push_back("reference home of " + text);
  }

  OpenFleet& fleet_;
  const VerifyOptions& options_;
  Context& context_;
  ProgressView& view_;
  FleetVerifyReport report_;
};

}  // namespace

int run(const VerifyOptions& options, Context& context) {
  OpenFleet fleet = open_fleet(options.common, context.clock);
  const HeedStop heed(context);
  FleetVerifyReport report;
  {
    ProgressView view(context.err, context.clock, progress_style(options.common, context));
    report = FleetVerifier(fleet, options, context, view).run();
  }
  if (options.common.json)
    print_json(context.out, report);
  else
    print_text(context.out, report);
  return report.exit_code();
}

}  // namespace ringshard::cli
