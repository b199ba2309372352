#include "cli/fleet.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "migrator/commands/commands.hpp"
#include "support/catch.hpp"

namespace ringshard::testing {

namespace fs = std::filesystem;

CommandFleet::CommandFleet(std::vector<std::string> nodes, int shards) : shards_(shards) {
  folder_.write(
      "schema.sql",
      "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, genre INTEGER);\n"
      "CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL\n"
      "  REFERENCES customer (id), total REAL NOT NULL);\n"
      "CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT);\n");
  configure(nodes);
  done("init");
}

void CommandFleet::configure(const std::vector<std::string>& nodes, const std::string& more) {
  std::string text =
      "catalog: sqlite:catalog.db\n"
      "keyspace:\n"
      "  name: shop\n"
      "  key: int64\n"
      "  shards: " +
      std::to_string(shards_) +
      "\n"
      "  schema: schema.sql\n"
      "  tables:\n"
      "    - {name: customer, key: id}\n"
      "    - {name: invoice, parent: {table: customer, columns: {customer_id: id}}}\n"
      "    - {name: genre, reference: true}\n"
      "nodes:\n";
  for (const std::string& node : nodes) {
    const auto colon = node.find(':');
    const std::string name = node.substr(0, colon);
    text += "  - {name: " + name + ", dsn: \"sqlite:" + name + "\"";
    if (colon != std::string::npos) text += ", state: " + node.substr(colon + 1);
    text += "}\n";
  }
  folder_.write("ringshard.yaml", text + more);
}

Ran CommandFleet::run(const std::string& arguments) const {
  std::vector<std::string> words;
  std::istringstream stream(arguments);
  for (std::string word; stream >> word;) words.push_back(word);
  words.insert(words.begin() + (words.empty() ? 0 : 1),
               {"--config", (folder_ / "ringshard.yaml").string()});
  std::ostringstream out;
  std::ostringstream err;
  cli::Context context{.out = out, .err = err, .clock = system_clock()};
  Ran ran;
  ran.exit_code = cli::run_program(words, context);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

Ran CommandFleet::done(const std::string& arguments) const {
  Ran ran = run(arguments);
  INFO(arguments << "\n" << ran.out << "\n" << ran.err);
  REQUIRE(ran.exit_code == 0);
  return ran;
}

void CommandFleet::fill(int count) {
  for (int customer = 1; customer <= count; ++customer) {
    const int shard = shard_of(customer);
    const std::string id = std::to_string(customer);
    damage(node_of(shard), shard,
           "INSERT INTO customer VALUES (" + id + ", 'customer " + id +
               "', 1);"
               "INSERT INTO invoice VALUES (" +
               id + "1, " + id + ", 1.5), (" + id + "2, " + id + ", 2.5);");
  }
}

void CommandFleet::damage(const std::string& node, int shard, const std::string& sql) const {
  damage_file(home_file(node, shard), sql);
}

void CommandFleet::damage_file(const fs::path& file, const std::string& sql) const {
  sqlite3* database = nullptr;
  std::string message;
  // The triggers of a mirror refuse a write; whoever corrupts a file does not ask them.
  if (sqlite3_open_v2(file.c_str(), &database, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
      sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr) != SQLITE_OK ||
      sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    message = sqlite3_errmsg(database);
  sqlite3_close(database);
  if (!message.empty()) throw std::runtime_error(file.string() + ": " + message);
}

fs::path CommandFleet::home_file(const std::string& node, int shard) const {
  return folder_.path() / node / ("shop_" + std::to_string(shard) + ".db");
}

cli::OpenFleet CommandFleet::open() const {
  cli::CommonOptions options;
  options.config = folder_ / "ringshard.yaml";
  return cli::open_fleet(options, system_clock());
}

std::string CommandFleet::node_of(int shard) const {
  return open().node_of(ShardId{static_cast<std::uint32_t>(shard)});
}

int CommandFleet::shard_of(std::int64_t customer) const {
  return static_cast<int>(open().topology.shard_of(customer).value);
}

std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    contents[fs::relative(entry.path(), folder).string()] =
        entry.is_regular_file() ? read_file(entry.path()) : "a folder";
  return contents;
}

}  // namespace ringshard::testing
