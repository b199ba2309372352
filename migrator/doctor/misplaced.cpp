#include "migrator/doctor/misplaced.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <ringshard/error.hpp>
#include <utility>

#include "mover/verifier.hpp"

namespace ringshard::cli {
namespace {

constexpr auto lock_wait = std::chrono::seconds(5);

/// An owner at rest, with a write transaction begun.
class OwnerAtRest {
 public:
  OwnerAtRest(OpenFleet& fleet, ShardId shard, Clock& clock)
      : backend_(fleet.nodes.at(fleet.node_of(shard))),
        home_(fleet.home_of(shard)),
        session_(backend_.connect(home_, SessionUse::maintenance)),
        store_(*session_, backend_.dialect()),
        tx_(*session_, home_, TxMode::exclusive, Deadline::after(clock, lock_wait)) {
    const std::optional<HomeRecord>& record = tx_.record();
    // Capture does not see what maintenance writes, so a move would lose it.
    if (!record || record->role != Role::owner || !record->peer.empty() || !record->move_id.empty())
      throw Error(ErrorCode::refused, "home " + home_.str() +
                                          " is in a move or not the owner: bring rows home when "
                                          "its move is over");
  }

  HomeStore& store() { return store_; }
  HomeSchema schema() { return store_.dialect().describe_schema(*session_); }
  void commit() { tx_.commit(); }

 private:
  Backend& backend_;
  const HomeName home_;
  std::unique_ptr<Session> session_;
  HomeStore store_;
  SessionTransaction tx_;
};

class Bringer {
 public:
  Bringer(OpenFleet& fleet, ShardId shard, Clock& clock)
      : fleet_(fleet), clock_(clock), here_(fleet, shard, clock), schema_(here_.schema()) {}

  MisplacedMend run(const std::vector<MisplacedRow>& rows) {
    std::map<ShardId, std::vector<MisplacedRow>> by_shard;
    for (const MisplacedRow& row : rows) by_shard[row.belongs].push_back(row);
    const std::vector<std::string> order = parents_first(fleet_.keyspace);
    const auto place = [&](const MisplacedRow& row) {
      return std::ranges::find(order, row.table) - order.begin();
    };
    std::vector<MisplacedRow> arrived;
    for (auto& [shard, group] : by_shard) {
      std::ranges::stable_sort(group, {}, place);
      insert_there(shard, group, arrived);
    }
    std::ranges::stable_sort(arrived, {}, place);
    for (auto row = arrived.rbegin(); row != arrived.rend(); ++row)
      here_.store().put(table(*row), row->primary_key, std::nullopt, UniqueConflict::fail);
    here_.commit();
    result_.moved = std::ssize(arrived);
    return std::move(result_);
  }

 private:
  const Table& table(const MisplacedRow& row) const {
    const Table* found = schema_.find(row.table);
    if (found == nullptr || found->key.empty())
      throw Error(ErrorCode::schema, "table " + row.table + " has no primary key any more");
    return *found;
  }

  /// As the home has it that knows what the columns hold, where one does.
  Table described(const MisplacedRow& row, OwnerAtRest& there) const {
    const Table& here = table(row);
    if (!here.kinds.empty()) return here;
    const HomeSchema schema = there.schema();
    const Table* found = schema.find(row.table);
    return found != nullptr ? *found : here;
  }

  /// What can be inserted is committed there before anything is deleted here.
  void insert_there(ShardId shard, const std::vector<MisplacedRow>& rows,
                    std::vector<MisplacedRow>& arrived) {
    OwnerAtRest there(fleet_, shard, clock_);
    std::vector<MisplacedRow> inserted;
    for (const MisplacedRow& row : rows) {
      const std::optional<Row> mine = here_.store().fetch(table(row), row.primary_key);
      if (!mine) continue;
      const std::optional<Row> theirs = there.store().fetch(table(row), row.primary_key);
      if (const auto difference =
              theirs ? difference_of(described(row, there), row.primary_key, mine, theirs,
                                     form_between(here_.store().dialect(), there.store().dialect()))
                     : std::nullopt) {
        result_.refused.push_back(describe(row) + ", where a different row has that primary key");
        continue;
      }
      if (!theirs) {
        try {
          Savepoint part(there.store().session());
          there.store().put(table(row), row.primary_key, mine, UniqueConflict::fail);
          part.keep();
        } catch (const Error& error) {
          if (error.code() != ErrorCode::constraint) throw;
          result_.refused.push_back(describe(row) + ", which refuses it: " + error.what());
          continue;
        }
      }
      inserted.push_back(row);
    }
    there.commit();
    arrived.insert(arrived.end(), inserted.begin(), inserted.end());
  }

  OpenFleet& fleet_;
  Clock& clock_;
  OwnerAtRest here_;
  const HomeSchema schema_;
  MisplacedMend result_;
};

}  // namespace

MisplacedMend bring_home(OpenFleet& fleet, ShardId shard, const std::vector<MisplacedRow>& rows,
                         Clock& clock) {
  return Bringer(fleet, shard, clock).run(rows);
}

}  // namespace ringshard::cli
