#pragma once

#include <ringshard/ids.hpp>

namespace ringshard {

class Session;

namespace detail {

/// What a Transaction of the public interface stands on, while the caller's function runs.
struct OpenTransaction {
  Session& session;
  ShardId shard;
  /// The session itself reported a conflict: the only Error out of the caller's function that is
  /// retried.
  bool conflict = false;
};

}  // namespace detail
}  // namespace ringshard
