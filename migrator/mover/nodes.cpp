#include "mover/nodes.hpp"

#include <ringshard/error.hpp>

namespace ringshard {

Nodes::Nodes(const std::vector<NodeInfo>& nodes, Clock& clock, BackendOptions options)
    : clock_(clock), options_(options) {
  // What a move copied has to survive a power cut before its owner is told to give it away, however
  // much of its own writes the application is ready to lose.
  options_.durable = true;
  for (const NodeInfo& node : nodes) dsns_.emplace(node.name, node.dsn);
}

Backend& Nodes::at(std::string_view name) {
  if (const auto open = open_.find(name); open != open_.end()) return *open->second;
  const auto dsn = dsns_.find(name);
  if (dsn == dsns_.end())
    throw Error(ErrorCode::not_found, "node '" + std::string(name) + "' is not in the catalog");
  return *open_.emplace(dsn->first, open_backend(dsn->second, clock_, options_)).first->second;
}

std::optional<HomeRecord> find_record(Backend& backend, const HomeName& home) {
  if (!backend.home_exists(home)) return std::nullopt;
  const std::unique_ptr<Session> session = backend.connect(home, SessionUse::maintenance);
  const SessionTransaction tx(*session, home, TxMode::read, Deadline());
  return tx.record();
}

}  // namespace ringshard
