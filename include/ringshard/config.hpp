#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringshard {

// The configuration of a router and of the migrator, as it is read from a YAML file. All of these
// are plain values: make one in code, or change one after reading it, as you like.
// schemas/config.schema.json describes the file for editors. A name below is the key in the file;
// what has no default there must be in the file.
//
//     catalog: sqlite:data/catalog.db        # relative to the folder of the file
//     keyspace:
//       name: shop
//       key: int64
//       schema: {sqlite: schema.sqlite.sql, postgres: schema.sql}     # or one file: schema:
//       schema.sql tables:
//         - {name: customer, key: customer_id}
//         - {name: invoice, parent: {table: customer, columns: {customer_id: customer_id}}}
//         - {name: genre, reference: true}
//     nodes:
//       - {name: a, dsn: "postgres://shop:${DB_PASSWORD}@a.example.org/shop"}
//       - {name: b, dsn: "postgres://shop:${DB_PASSWORD}@b.example.org/shop", weight: 2}
//
// Durations are written "250ms", "10s", "5m", "24h", "7d", sizes "64KiB", "8MiB". In every value
// ${NAME} stands for an environment variable, ${NAME:-text} for the same with a default, $$ for one
// $.

/// How the rows of a child table find their key: through the row of a parent table.
struct ParentConfig {
  std::string table;
  /// Column of the child → column of the parent that holds the same value; at least one pair.
  std::vector<std::pair<std::string, std::string>> columns;

  friend bool operator==(const ParentConfig&, const ParentConfig&) = default;
};

/// One table of a keyspace. Exactly one of `key`, `parent` and `reference` says where its rows go.
struct TableConfig {
  std::string name;
  /// The column that holds the shard key; of a composite key all columns, in the key's order.
  std::vector<std::string> key;
  std::optional<ParentConfig> parent;
  /// Every node holds the whole table, and SQL inside a home can join it.
  bool reference = false;

  friend bool operator==(const TableConfig&, const TableConfig&) = default;
};

/// Tables that are sharded by the same key. `name`, `key`, `hash` and `shards` are fixed for ever
/// when the keyspace is made.
struct KeyspaceConfig {
  std::string name;  ///< lower-case letters, digits and _, at most 40, a letter first
  std::string key;   ///< "int64", "text", "uuid", "bytes", or several of them: "int64,text"
  std::string hash = "xxh3";    ///< a hash strategy by its name
  std::uint32_t shards = 1024;  ///< 1 … 2^20
  /// SQL files, absolute, that make the tables in an empty home: by kind of database, "sqlite" or
  /// "postgres"; under "" the one for each kind that is not there itself.
  std::map<std::string, std::string> schema;
  std::vector<TableConfig> tables;

  /// The file for a kind of database, if there is one.
  std::optional<std::string> schema_for(std::string_view engine) const;

  friend bool operator==(const KeyspaceConfig&, const KeyspaceConfig&) = default;
};

/// A physical database.
struct NodeConfig {
  std::string name;   ///< letters, digits, _ - and ., at most 63
  std::string dsn;    ///< "sqlite:/directory" or "postgres://…"; print only redact(dsn)
  double weight = 1;  ///< its part of the shards, relative to the others; more than 0
  std::string state = "active";  ///< or "draining": it is to give away every shard
  std::string zone;              ///< where it stands, for people

  friend bool operator==(const NodeConfig&, const NodeConfig&) = default;
};

struct RouterConfig {
  std::uint32_t pool_size_max = 16;  ///< connections in use per node; SQLite keeps up to 64 open
  std::chrono::milliseconds pool_wait{1'000};       ///< for a connection to become free
  std::chrono::milliseconds deadline{10'000};       ///< for one call, its retries included
  std::chrono::milliseconds poll_interval{1'000};   ///< between looks at the catalog's version
  std::chrono::milliseconds mirror_timeout{2'000};  ///< for the second half of a double write
  std::optional<std::string>
      topology_cache;                     ///< file to start from when the catalog is away; absolute
  std::uint32_t scatter_parallelism = 8;  ///< shards that one scatter asks at the same time

  friend bool operator==(const RouterConfig&, const RouterConfig&) = default;
};

struct CutoverConfig {
  std::chrono::milliseconds pause_budget{250};  ///< longest time that writers of the shard may wait
  std::chrono::milliseconds lock_timeout{50};   ///< for the exclusive lock; at most pause_budget
  std::uint32_t attempts_max = 20;
  std::chrono::milliseconds retry_delay{200};  ///< after an attempt that gave up

  friend bool operator==(const CutoverConfig&, const CutoverConfig&) = default;
};

struct MoveConfig {
  std::chrono::milliseconds observe_for{std::chrono::hours(24)};  ///< with a way back; "0s": none
  CutoverConfig cutover;
  std::uint32_t chunk_rows = 5'000;               ///< rows copied or compared at a time, at most
  std::uint64_t chunk_bytes = 8 * 1024 * 1024;    ///< bytes of them, about
  std::uint64_t change_log_rows_max = 1'000'000;  ///< past it a move reverts, an observation ends
  std::chrono::milliseconds lease{10'000};        ///< after which another migrator may take over
  std::uint32_t concurrency = 1;                  ///< shards that are moved at the same time
  bool repair = false;                            ///< mend differences that verification finds

  friend bool operator==(const MoveConfig&, const MoveConfig&) = default;
};

struct SqliteConfig {
  std::string synchronous = "full";  ///< or "normal": the last commits may be lost in a power cut
  bool foreign_keys = true;          ///< enforced for the application's statements

  friend bool operator==(const SqliteConfig&, const SqliteConfig&) = default;
};

struct Config {
  std::string catalog;  ///< "sqlite:/directory/catalog.db" or "postgres://…"
  KeyspaceConfig keyspace;
  std::vector<NodeConfig> nodes;  ///< at least one that is active
  RouterConfig router;
  MoveConfig move;
  SqliteConfig sqlite;
  std::map<std::uint32_t, std::string> pins;  ///< shard → the node that it must be on
  std::map<std::uint32_t, std::vector<std::string>> forbidden;  ///< shard → nodes it must not be on

  friend bool operator==(const Config&, const Config&) = default;
};

/// Reads and checks a configuration file. Throws Error{not_found} if there is no such file, and
/// Error{config} whose text has a line for every mistake, "config.yaml:12: …". Passwords are not in
/// it.
Config load_config(const std::filesystem::path& path);

/// The same for a text. `name` is put before the line numbers; relative paths in it are taken from
/// `folder`.
Config parse_config(std::string_view text, std::string_view name,
                    const std::filesystem::path& folder);

/// The text with *** for every password in it: that of "scheme://user:password@host", and the value
/// of password=…, passwd=…, pwd=… and of every word that ends in one of these. For any text that
/// may hold a DSN.
std::string redact(std::string_view text);

}  // namespace ringshard
