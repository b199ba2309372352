#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/session.hpp"
#include "catalog/catalog.hpp"
#include "catalog/records.hpp"
#include "support/clock.hpp"

namespace ringshard {

/// The catalog's session, and what all its operations share. Each of the functions below, but for
/// the two that run transactions, works inside the transaction that is open.
struct Catalog::Implementation {
  Implementation(std::string catalog_dsn, Clock& catalog_clock)
      : dsn(std::move(catalog_dsn)), clock(catalog_clock) {}

  std::string dsn;
  Clock& clock;
  std::unique_ptr<Session> session;
  std::string id;

  /// Connects; checks that this is a catalog, of a format that is known, and the one that it was
  /// before.
  void connect();

  /// Runs `work` in one transaction and commits it. One that met a lock is rolled back and run
  /// again, for a bounded time; then Error{conflict}.
  void transact(TxMode mode, const std::function<void(Session&)>& work);
  void read(const std::function<void(Session&)>& work) { transact(TxMode::read, work); }
  void write(const std::function<void(Session&)>& work) { transact(TxMode::exclusive, work); }
  /// Beside others that do the same, where the database can: for what is one statement on one move.
  void write_beside(const std::function<void(Session&)>& work) { transact(TxMode::write, work); }

  /// Error{not_found} without the keyspace.
  std::uint64_t version_of(std::string_view keyspace);
  std::uint64_t raise_version(std::string_view keyspace);

  void insert_event(const Event& event);
  void note(std::string_view keyspace, std::string_view move_id, std::string_view what,
            std::string text, std::uint64_t version);

  std::vector<NodeInfo> nodes_of(std::string_view keyspace);
  void upsert_nodes(std::string_view keyspace, const std::vector<NodeInfo>& nodes);

  /// The node that the catalog says a shard is on. Error{not_found} if there is no such shard.
  std::string node_of(std::string_view keyspace, ShardId shard);
  void place(std::string_view keyspace, ShardId shard, std::string_view node);

  /// Error{not_found} without the move.
  MoveRecord load_move(std::string_view move_id);
};

namespace catalog_rows {

void store_tables(Session& session, const KeyspaceDefinition& definition);
void store_schemas(Session& session, std::string_view keyspace, std::string_view engine,
                   const KeyspaceSchema& schema);
void load_tables(Session& session, KeyspaceDefinition& definition);
void erase_tables(Session& session, std::string_view keyspace);

}  // namespace catalog_rows

/// 32 hexadecimal digits that nobody else has.
std::string random_id();

/// Of the text and integer columns of a catalog row. Error{corrupt} if it is of another type.
const std::string& text_of(const Value& value);
std::int64_t integer_of(const Value& value);

}  // namespace ringshard
