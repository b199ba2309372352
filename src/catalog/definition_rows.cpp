#include <array>
#include <cstddef>
#include <optional>
#include <ringshard/error.hpp>

#include "catalog/implementation.hpp"

// How the tables of a keyspace and the schema of its homes lie in the catalog.

namespace ringshard::catalog_rows {

namespace {

// "postgres/shard": where the definitions of one kind of home in one kind of database lie.
constexpr std::string_view shard_home = "/shard";
constexpr std::string_view reference_home = "/reference";

constexpr std::array schema_erasures{"DELETE FROM ringshard_schema_statement WHERE keyspace = $1",
                                     "DELETE FROM ringshard_schema_table WHERE keyspace = $1",
                                     "DELETE FROM ringshard_schema_column WHERE keyspace = $1"};

std::int64_t number(std::size_t position) { return static_cast<std::int64_t>(position); }

void store_table(Session& session, std::string_view keyspace, const TableDefinition& table,
                 std::size_t position) {
  session.execute(
      "INSERT INTO ringshard_table (keyspace, name, position, is_reference, parent) "
      "VALUES ($1, $2, $3, $4, $5)",
      {keyspace, std::string_view(table.name), number(position),
       std::int64_t{table.reference ? 1 : 0}, std::string_view(table.parent)});
  const auto store_column = [&](std::string_view kind, std::size_t at, std::string_view name,
                                std::string_view parent_column) {
    session.execute(
        "INSERT INTO ringshard_table_column "
        "(keyspace, table_name, kind, position, name, parent_column) VALUES ($1, $2, $3, $4, $5, "
        "$6)",
        {keyspace, std::string_view(table.name), kind, number(at), name, parent_column});
  };
  for (std::size_t i = 0; i < table.key.size(); ++i) store_column("key", i, table.key[i], "");
  for (std::size_t i = 0; i < table.parent_columns.size(); ++i)
    store_column("parent", i, table.parent_columns[i].first, table.parent_columns[i].second);
}

void store_schema_table(Session& session, std::string_view keyspace, std::string_view home,
                        const Table& table, std::size_t position) {
  session.execute(
      "INSERT INTO ringshard_schema_table (keyspace, home, position, name) VALUES ($1, $2, $3, $4)",
      {keyspace, home, number(position), std::string_view(table.name)});
  const auto store_column = [&](std::string_view kind, std::size_t list, std::size_t at,
                                std::string_view name, std::string_view collation) {
    session.execute(
        "INSERT INTO ringshard_schema_column (keyspace, home, table_position, kind, list, "
        "position, "
        "name, collation_name) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        {keyspace, home, number(position), kind, number(list), number(at), name, collation});
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    store_column("column", 0, i, table.columns[i], "");
  for (std::size_t i = 0; i < table.key.size(); ++i)
    store_column("key", 0, i, table.key[i],
                 i < table.key_collations.size() ? table.key_collations[i] : std::string());
  for (std::size_t list = 0; list < table.unique_keys.size(); ++list)
    for (std::size_t i = 0; i < table.unique_keys[list].size(); ++i)
      store_column("unique", list, i, table.unique_keys[list][i], "");
}

void store_schema(Session& session, std::string_view keyspace, std::string_view home,
                  const HomeSchema& schema) {
  for (std::size_t i = 0; i < schema.statements.size(); ++i)
    session.execute(
        "INSERT INTO ringshard_schema_statement (keyspace, home, position, statement) "
        "VALUES ($1, $2, $3, $4)",
        {keyspace, home, number(i), std::string_view(schema.statements[i])});
  for (std::size_t i = 0; i < schema.tables.size(); ++i)
    store_schema_table(session, keyspace, home, schema.tables[i], i);
}

void add_column(Table& table, const Row& row) {
  const std::string& kind = text_of(row[1]);
  const std::string& name = text_of(row[3]);
  if (kind == "column") {
    table.columns.push_back(name);
  } else if (kind == "key") {
    table.key.push_back(name);
    table.key_collations.push_back(text_of(row[4]));
  } else {
    const auto list = static_cast<std::size_t>(integer_of(row[2]));
    if (list >= table.unique_keys.size()) table.unique_keys.resize(list + 1);
    table.unique_keys[list].push_back(name);
  }
}

void find_key_positions(Table& table) {
  for (const std::string& key : table.key) {
    std::size_t position = 0;
    while (position < table.columns.size() && table.columns[position] != key) ++position;
    if (position == table.columns.size())
      throw Error(ErrorCode::corrupt, "the catalog says that table " + table.name +
                                          " has the key column " + key +
                                          ", which is none of its columns");
    table.key_positions.push_back(position);
  }
}

HomeSchema load_schema(Session& session, std::string_view keyspace, std::string_view home) {
  HomeSchema schema;
  for (const Row& row : session.rows("SELECT statement FROM ringshard_schema_statement "
                                     "WHERE keyspace = $1 AND home = $2 ORDER BY position",
                                     {keyspace, home}))
    schema.statements.push_back(text_of(row[0]));
  for (const Row& row : session.rows("SELECT name FROM ringshard_schema_table "
                                     "WHERE keyspace = $1 AND home = $2 ORDER BY position",
                                     {keyspace, home})) {
    Table table;
    table.name = text_of(row[0]);
    schema.tables.push_back(std::move(table));
  }
  for (const Row& row : session.rows(
           "SELECT table_position, kind, list, name, collation_name FROM ringshard_schema_column "
           "WHERE keyspace = $1 AND home = $2 ORDER BY table_position, kind, list, position",
           {keyspace, home})) {
    const auto position = static_cast<std::size_t>(integer_of(row[0]));
    if (position >= schema.tables.size())
      throw Error(ErrorCode::corrupt, "the catalog has columns of a table that it does not have");
    add_column(schema.tables[position], row);
  }
  for (Table& table : schema.tables) find_key_positions(table);
  return schema;
}

}  // namespace

void store_tables(Session& session, const KeyspaceDefinition& definition) {
  for (std::size_t i = 0; i < definition.tables.size(); ++i)
    store_table(session, definition.name, definition.tables[i], i);
  for (const auto& [engine, schema] : definition.schemas)
    store_schemas(session, definition.name, engine, schema);
}

void store_schemas(Session& session, std::string_view keyspace, std::string_view engine,
                   const KeyspaceSchema& schema) {
  for (const auto& [kind, stored] :
       {std::pair(shard_home, &schema.home), std::pair(reference_home, &schema.reference)}) {
    const std::string home = std::string(engine) + std::string(kind);
    for (const char* statement : schema_erasures)
      session.execute(std::string(statement) + " AND home = $2",
                      {keyspace, std::string_view(home)});
    store_schema(session, keyspace, home, *stored);
  }
}

void load_tables(Session& session, KeyspaceDefinition& definition) {
  const std::string_view keyspace = definition.name;
  for (const Row& row : session.rows("SELECT name, is_reference, parent FROM ringshard_table "
                                     "WHERE keyspace = $1 ORDER BY position",
                                     {keyspace})) {
    TableDefinition table;
    table.name = text_of(row[0]);
    table.reference = integer_of(row[1]) != 0;
    table.parent = text_of(row[2]);
    for (const Row& column :
         session.rows("SELECT kind, name, parent_column FROM ringshard_table_column "
                      "WHERE keyspace = $1 AND table_name = $2 ORDER BY kind, position",
                      {keyspace, std::string_view(table.name)})) {
      if (text_of(column[0]) == "key")
        table.key.push_back(text_of(column[1]));
      else
        table.parent_columns.emplace_back(text_of(column[1]), text_of(column[2]));
    }
    definition.tables.push_back(std::move(table));
  }
  for (const Row& row : session.rows("SELECT DISTINCT home FROM ringshard_schema_statement "
                                     "WHERE keyspace = $1",
                                     {keyspace})) {
    const std::string& home = text_of(row[0]);
    const std::size_t slash = home.find('/');
    KeyspaceSchema& schema = definition.schemas[home.substr(0, slash)];
    (home.substr(slash) == shard_home ? schema.home : schema.reference) =
        load_schema(session, keyspace, home);
  }
}

void erase_tables(Session& session, std::string_view keyspace) {
  constexpr std::array statements{"DELETE FROM ringshard_table WHERE keyspace = $1",
                                  "DELETE FROM ringshard_table_column WHERE keyspace = $1"};
  for (const char* statement : statements) session.execute(statement, {keyspace});
  for (const char* statement : schema_erasures) session.execute(statement, {keyspace});
}

}  // namespace ringshard::catalog_rows
