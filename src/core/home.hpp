#pragma once

#include <cstdint>
#include <optional>
#include <ringshard/ids.hpp>
#include <string>
#include <string_view>

namespace ringshard {

/// What a home is for. Stored by name.
enum class Role : std::uint8_t {
  owner,  ///< serves reads and writes of its shard
  mirror  ///< takes only applied changes; `peer` says where the owner is
};

std::string_view to_string(Role role) noexcept;
std::optional<Role> parse_role(std::string_view name) noexcept;

/// Which namespace: the home of a shard, or the one reference home that each node holds whole.
struct HomeName {
  std::string keyspace;
  std::optional<ShardId> shard;  ///< empty: the reference home

  /// "shop_12", "shop_reference": the PostgreSQL schema, or the SQLite file without its ".db".
  std::string str() const;

  friend bool operator==(const HomeName&, const HomeName&) = default;
};

/// The one row inside a home that says who it is: the truth about ownership.
///
/// `leg` starts at 1 in each move and grows by one whenever ownership changes hands within it; a
/// home at rest has leg 0 and neither peer nor move. An owner that has a peer is being moved: its
/// changes are captured and mirrored there. A mirror's peer is the owner.
struct HomeRecord {
  std::string keyspace;
  ShardId shard;
  Role role = Role::owner;
  std::int64_t leg = 0;
  std::string peer;     ///< a node's name; empty: none
  std::string move_id;  ///< empty: none
  std::string mover;  ///< the lease holder that may work on this home; a mover that lost its lease
                      ///< finds another
  /// Names the attempt of a cutover in which this home was made equal to its owner, under the lock;
  /// the record of a decided handover repeats it. A copy that is older, out of a backup perhaps,
  /// holds another one and is never promoted.
  std::string certificate;

  bool being_moved() const noexcept { return !peer.empty(); }

  friend bool operator==(const HomeRecord&, const HomeRecord&) = default;
};

/// What a router that reached a home does next.
enum class Access : std::uint8_t {
  serve,             ///< it owns the shard, nobody mirrors it
  serve_and_mirror,  ///< it owns the shard; what is written goes to the peer too
  redirect           ///< the owner is at the peer
};

/// Decides from the record alone; exhaustive over role and state.
Access access_of(const HomeRecord& record) noexcept;

/// True if `old_owner` has handed its shard to `new_owner`, to this very copy, and the latter has
/// not been told yet:
/// whoever sees this may finish it, by setting new_owner's role to owner and its leg to
/// old_owner's.
bool handover_is_decided(const HomeRecord& old_owner, const HomeRecord& new_owner) noexcept;

/// In a later leg than the first there may be no migrator about, so routers themselves delete the
/// change-log entries that they have mirrored.
bool routers_trim_log(const HomeRecord& owner) noexcept;

}  // namespace ringshard
