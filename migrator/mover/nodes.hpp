#pragma once

#include <map>
#include <memory>
#include <optional>
#include <ringshard/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace ringshard {

/// The databases of a keyspace by node name, opened on first use. For one thread at a time.
class Nodes {
 public:
  Nodes(const std::vector<NodeInfo>& nodes, Clock& clock, BackendOptions options);

  /// Error{not_found} for a name that the keyspace does not know.
  Backend& at(std::string_view name);

  Clock& clock() noexcept { return clock_; }

 private:
  std::map<std::string, std::string, std::less<>> dsns_;
  std::map<std::string, std::unique_ptr<Backend>, std::less<>> open_;
  Clock& clock_;
  BackendOptions options_;
};

/// What a home says of itself, in a transaction of its own; nothing if there is no such home.
std::optional<HomeRecord> find_record(Backend& backend, const HomeName& home);

}  // namespace ringshard
