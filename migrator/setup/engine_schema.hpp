#pragma once

#include <functional>
#include <map>
#include <ringshard/config.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "catalog/records.hpp"

namespace ringshard::setup {

using Schemas = std::map<std::string, KeyspaceSchema, std::less<>>;

/// For each kind of database among the nodes, the node that tries out definitions for it: the first
/// active one, or else the first.
std::map<std::string, const NodeInfo*> first_of_each_engine(const std::vector<NodeInfo>& nodes);

/// Throws Error{refused} if the nodes are of several kinds and for one of them it is not known what
/// its homes are made of: neither `stored` nor keyspace.schema has it.
void require_schemas(const std::vector<NodeInfo>& nodes, const KeyspaceConfig& keyspace,
                     const Schemas& stored);

/// The definitions that keyspace.schema has for the kind of database that `node` is, tried out
/// there in homes that are gone afterwards, and divided. Throws Error{schema} for all that is wrong
/// with them.
KeyspaceSchema read_schema(const KeyspaceConfig& keyspace, const NodeInfo& node,
                           const BackendOptions& options, Clock& clock);

}  // namespace ringshard::setup
