#pragma once

#include <cstdint>
#include <optional>
#include <ringshard/hash.hpp>
#include <ringshard/ids.hpp>
#include <ringshard/key.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ringshard {

/// What the planner may do with a node.
enum class NodeState : std::uint8_t {
  active,    ///< serves its shards and may be given more
  draining,  ///< serves its shards; the next plan moves all of them away
  removed    ///< no longer used; kept so that its name still means something
};

/// "active", "draining", "removed".
std::string_view to_string(NodeState state) noexcept;

/// Throws Error{invalid_argument} that names the text.
NodeState parse_node_state(std::string_view text);

/// A physical database.
struct NodeInfo {
  std::string name{};
  std::string dsn{};
  double weight = 1;
  NodeState state = NodeState::active;
  std::string zone{};
  friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};

/// What a Topology is made of.
struct TopologyData {
  std::string catalog_id{};
  std::string keyspace{};
  KeySpec key{};
  HashStrategy hash = HashStrategy::xxh3;
  std::vector<NodeInfo> nodes{};
  /// For each shard the position of its node in `nodes`. Its size is the number of shards.
  std::vector<std::uint16_t> placement{};
  /// Grows with each change of the placement.
  std::uint64_t version = 0;
  friend bool operator==(const TopologyData&, const TopologyData&) = default;
};

/// Where a key lives.
struct Route {
  ShardId shard;
  NodeIndex node;
  friend bool operator==(Route, Route) = default;
};

/// One keyspace at one version: which shard a key is on, and which node a shard is on. Immutable,
/// so any number of threads may read it at once; a new version is a new Topology.
///
///     const Route route = topology.route(user_id);
///     const NodeInfo& node = topology.node(route.node);
///
/// It says where to look first. The home record at the node decides who owns the shard.
class Topology {
 public:
  /// Throws Error{invalid_argument} if the keyspace or a node has no name, two nodes share one, a
  /// weight is not a positive number, the number of shards or nodes is out of range, a shard is
  /// placed on a node that is not there, or the hash strategy modulo meets keys other than int64.
  explicit Topology(TopologyData data);

  const std::string& catalog_id() const noexcept { return data_.catalog_id; }
  const std::string& keyspace() const noexcept { return data_.keyspace; }
  const KeySpec& key_spec() const noexcept { return data_.key; }
  HashStrategy hash_strategy() const noexcept { return data_.hash; }
  std::uint64_t version() const noexcept { return data_.version; }
  std::uint32_t shard_count() const noexcept { return shard_count_; }
  const std::vector<NodeInfo>& nodes() const noexcept { return data_.nodes; }
  const std::vector<std::uint16_t>& placement() const noexcept { return data_.placement; }
  const TopologyData& data() const noexcept { return data_; }

  /// The shard of a key. Throws Error{invalid_argument} if the key is not of key_spec()'s kind.
  ShardId shard_of(const Key& key) const { return route(key).shard; }

  /// The node of a shard. Throws Error{not_found} if there is no such shard.
  NodeIndex node_of(ShardId shard) const;

  /// Both at once, in nanoseconds. Throws as shard_of() does.
  Route route(const Key& key) const {
    // Inline, so that an integer or a text never has to be put into a Key in memory first.
    if (key.type() == key_type_) {
      if (key_type_ == KeyType::int64 && hash_ == HashStrategy::xxh3)
        return scaled(hash_xxh3(key.integer()));
      if (key_type_ == KeyType::text) return route_text(key.bytes());
    }
    return route_any(key);
  }

  /// Throws Error{not_found} if the index lies outside of nodes().
  const NodeInfo& node(NodeIndex index) const;

  /// The node of this name, or nothing.
  std::optional<NodeIndex> find_node(std::string_view name) const noexcept;

  /// All shards placed on a node, in ascending order.
  std::vector<ShardId> shards_of(NodeIndex index) const;

  friend bool operator==(const Topology& left, const Topology& right) {
    return left.data_ == right.data_;
  }

 private:
  Route route_text(std::string_view key) const;
  Route route_any(const Key& key) const;
  /// Not for modulo.
  Route scaled(std::uint64_t hash) const noexcept {
    const ShardId shard = scale_hash(hash, shard_count_);
    return {shard, NodeIndex{data_.placement[shard.value]}};
  }

  // What each route needs of data_, side by side.
  KeyType key_type_ = KeyType::int64;
  HashStrategy hash_ = HashStrategy::xxh3;
  std::uint32_t shard_count_ = 0;
  TopologyData data_;
};

/// A topology as text, for the file that lets a router start while the catalog is away. Lines: the
/// format's name and version, the fields with tabs between them (control characters and % as %xx),
/// the placement, and in the last line the XXH3 of all that stands before it.
///
/// The text holds the nodes' DSNs as they are, passwords included: keep such a file private.
std::string serialize(const Topology& topology);

/// Throws Error{corrupt} if the text is cut off, was altered, or is of an unknown version.
Topology parse_topology(std::string_view text);

}  // namespace ringshard
