#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "support/clock.hpp"
#include "support/paths.hpp"

namespace ringshard::testing {

/// The real clock, but for the time of day, which a test moves.
class WallClock : public Clock {
 public:
  TimePoint now() override { return system_clock().now(); }
  std::int64_t unix_ms() override { return unix_ms_; }
  void sleep_for(std::chrono::microseconds duration) override {
    system_clock().sleep_for(duration);
  }
  void advance(std::int64_t ms) { unix_ms_ += ms; }

 private:
  std::atomic<std::int64_t> unix_ms_{1'700'000'000'000};
};

/// A catalog in a file of its own, with the keyspace "shop": 8 shards, even ones on node a, odd
/// ones on b.
struct CatalogFixture {
  TemporaryFolder folder;
  WallClock clock;
  std::string dsn = "sqlite:" + (folder / "catalog.db").string();

  Catalog create(KeyspaceState state = KeyspaceState::ready);
  Catalog open() { return Catalog::open(dsn, clock); }
};

KeyspaceDefinition shop_definition(KeyspaceState state);
std::vector<NodeInfo> shop_nodes();
std::vector<std::uint16_t> shop_placement();

NodeInfo make_node(const std::string& name, const std::string& dsn,
                   NodeState state = NodeState::active, double weight = 1);

/// Shard 0, from a to b.
MoveRecord shop_move(const std::string& id = "m1", std::uint32_t shard = 0);

/// Stores a plan of one move and takes its lease for "mover".
MoveRecord start_move(Catalog& catalog, const std::string& id = "m1", std::uint32_t shard = 0);

/// Stores the stages one after another, as "mover".
void go_through(Catalog& catalog, MoveRecord& move, const std::vector<MoveStage>& stages);

/// The code of the Error that `function` throws, or nothing if it throws none; its text in
/// `message`.
template <class Function>
std::optional<ErrorCode> code_of(Function function, std::string* message = nullptr) {
  try {
    function();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  return std::nullopt;
}

}  // namespace ringshard::testing
