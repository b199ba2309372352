#pragma once

#include <cstdint>
#include <ringshard/config.hpp>
#include <ringshard/topology.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "catalog/catalog.hpp"
#include "catalog/records.hpp"
#include "progress.hpp"
#include "support/clock.hpp"

namespace ringshard {

// How a fleet comes into being: `ringshard init` and `ringshard import`, and what a node needs that
// joins later.
//
// Both work through the catalog's setup id: the keyspace's state is `importing` from before the
// first home is made until everything was proved, so no router uses what is half made. Whoever is
// killed in between is started again and begins anew; of two that run at once, the one that began
// last wins and the other one stops with Error{lease_lost}.

struct InitReport {
  KeyspaceState state = KeyspaceState::empty;  ///< ready, or empty: `ringshard import` comes next
  std::int64_t nodes = 0;
  std::int64_t homes = 0;  ///< of shards
  std::int64_t tables = 0;
};

/// Makes the catalog, the keyspace, its nodes and its first placement, and a home for each shard
/// with the tables of the file `keyspace.schema`. Without that file homes are left to the import.
///
/// Everything that is wrong with the schema or the tables of the configuration is reported at once
/// in one Error{schema}, before anything is made. Error{already_exists} if the keyspace is there
/// (ready, or waiting for its import); Error{refused} if a node holds homes of this keyspace's name
/// that the catalog does not know.
InitReport init_fleet(const Config& config, Clock& clock, Progress& progress);

struct ImportedTable {
  std::string name;
  std::string kind;    ///< "key", "parent" or "reference"
  Digest digest;       ///< of the source and, as was checked, of all homes together
  double seconds = 0;  ///< to read and divide its rows
};

struct ImportReport {
  std::vector<ImportedTable> tables;
  std::vector<std::string> notes;  ///< what homes do not have: foreign keys that leave them, views
                                   ///< over both kinds of tables
  std::int64_t rows = 0;
  std::int64_t homes = 0;
  double seconds = 0;
};

/// Loads an existing, unsharded database ("sqlite:FILE") into a keyspace that `init_fleet` made. It
/// is read in one snapshot and never written.
///
/// All that is wrong with it is reported at once in one Error{schema}, before anything is written:
/// tables that the configuration does not mention, missing primary keys, rows without a key or a
/// parent, foreign keys that could not hold. Error{refused} for a keyspace that is ready;
/// Error{differs} if what was read back is not what was in the source, and then the keyspace stays
/// unusable. Memory is bounded, whatever the source's size.
ImportReport import_database(const Config& config, const std::string& from, Clock& clock,
                             Progress& progress);

/// Makes a node usable for moves to it: its directory or schema, and a reference home equal to that
/// of a node of the keyspace. Doing it again changes nothing, and makes a copy that broke off anew.
/// A reference home of a node that has shards is left as it is. Error{differs} if the copy is not
/// equal. The node need not be in the catalog yet.
void add_node_homes(Catalog& catalog, std::string_view keyspace, const NodeInfo& node,
                    const BackendOptions& options, Clock& clock, Progress& progress);

/// What the configuration says of the tables and of a node, in the catalog's words.
KeyspaceDefinition to_definition(const KeyspaceConfig& keyspace);
NodeInfo to_node(const NodeConfig& node);

}  // namespace ringshard
