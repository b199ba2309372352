#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <ringshard/ids.hpp>
#include <ringshard/ring.hpp>
#include <string>
#include <vector>

#include "catalog/records.hpp"
#include "core/home.hpp"

namespace ringshard::cli {

// What is, without changing it: status, ring, route, events.

struct NodeLine {
  std::string name;
  std::string dsn;  ///< without its password
  std::string state;
  std::string zone;
  double weight = 1;
  std::int64_t shards = 0;
  std::int64_t quota = 0;
  double share = 0;  ///< of all shards
};

struct StatusReport {
  std::string keyspace;
  std::string state;
  std::uint64_t version = 0;
  std::int64_t shards = 0;
  double balance = 1;  ///< largest number of shards for its weight over the mean
  std::vector<NodeLine> nodes;
  std::vector<MoveRecord> moves;  ///< all, or the one that was asked for
  bool show_finished = false;     ///< in the text
  std::int64_t now_ms = 0;
};

struct RingReport {
  std::string keyspace;
  std::uint64_t version = 0;
  double balance = 1;
  std::vector<NodeLine> nodes;
  RingSkew skew;  ///< of the active nodes
};

/// A home record as it was found on the way from one home to the next.
struct FoundRecord {
  std::string node;
  std::optional<HomeRecord> record;
  std::string error;  ///< why the node could not be asked; empty: it could
};

struct RouteReport {
  std::string key;  ///< for people
  ShardId shard;
  std::string node;  ///< as the placement says
  // Only with --explain:
  bool explained = false;
  std::string bytes;  ///< hexadecimal
  std::string hash_strategy;
  std::string hash;  ///< hexadecimal
  std::int64_t shard_count = 0;
  std::uint64_t epoch = 0;  ///< version of the topology
  std::vector<FoundRecord> records;
  std::string owner;  ///< node of the record that says owner; empty: none was found
  std::optional<MoveRecord> move;
};

void print_text(std::ostream& out, const StatusReport& report);
void print_json(std::ostream& out, const StatusReport& report);
void print_text(std::ostream& out, const RingReport& report);
void print_json(std::ostream& out, const RingReport& report);
void print_text(std::ostream& out, const RouteReport& report);
void print_json(std::ostream& out, const RouteReport& report);
void print_text(std::ostream& out, const std::vector<Event>& events);
void print_json(std::ostream& out, const std::vector<Event>& events);

}  // namespace ringshard::cli
