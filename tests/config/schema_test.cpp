#include <map>
#include <nlohmann/json.hpp>
#include <ringshard/config.hpp>
#include <ringshard/hash.hpp>
#include <set>
#include <string>

#include "config/document.hpp"
#include "config/reader.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using nlohmann::json;
using Keys = std::map<std::string, std::set<std::string>>;

namespace {

json schema() {
  const auto path = ringshard::testing::tests_folder().parent_path() / "schemas/config.schema.json";
  return json::parse(ringshard::testing::read_file(path));
}

// The keys of every mapping that the schema describes, named as the loader names them.
void collect_keys(const json& part, const std::string& name, Keys& keys) {
  if (part.contains("items")) collect_keys(part["items"], name + "[]", keys);
  if (!part.contains("properties")) return;
  keys[name];
  for (const auto& [key, value] : part["properties"].items()) {
    keys[name].insert(key);
    collect_keys(value, name.empty() ? key : name + "." + key, keys);
  }
}

// The defaults of the schema as the YAML of the mapping they belong to: JSON is YAML.
json defaults_of(const json& part) {
  json values = json::object();
  for (const auto& [key, value] : part.at("properties").items()) {
    if (value.contains("default")) values[key] = value["default"];
    if (value.contains("properties")) values[key] = defaults_of(value);
  }
  return values;
}

const json a_table_of_each_kind = json::parse(R"([
    {"name": "customer", "key": "id"},
    {"name": "invoice", "parent": {"table": "customer", "columns": {"customer": "id"}}}])");

}  // namespace

TEST_CASE("the JSON Schema lists exactly the keys that the loader knows") {
  Keys described;
  collect_keys(schema(), "", described);

  const json text = {{"keyspace", {{"schema", json::object()}, {"tables", a_table_of_each_kind}}},
                     {"nodes", {{{"name", "a"}}}}};
  ringshard::config::Findings findings("config.yaml");
  ringshard::config::read_config(ringshard::config::parse_document(text.dump()), findings, "/");
  CHECK(described == findings.keys);
}

TEST_CASE("the defaults of the JSON Schema are those of the loader") {
  json text = defaults_of(schema());
  text["catalog"] = "sqlite:c";
  text["keyspace"]["name"] = "shop";
  text["keyspace"]["key"] = "int64";
  text["nodes"] = {defaults_of(schema()["properties"]["nodes"]["items"])};
  text["nodes"][0]["name"] = "a";
  text["nodes"][0]["dsn"] = "sqlite:a";
  const auto written = ringshard::parse_config(text.dump(), "written", "/");
  const auto left_out = ringshard::parse_config(
      R"({"catalog": "sqlite:c", "keyspace": {"name": "shop", "key": "int64"},
          "nodes": [{"name": "a", "dsn": "sqlite:a"}]})",
      "left out", "/");
  CHECK(text["router"].size() == 6);
  CHECK(written == left_out);
}

TEST_CASE("the JSON Schema knows every hash strategy") {
  const json keyspace = schema()["properties"]["keyspace"];
  std::set<std::string> described;
  for (const json& name : keyspace["properties"]["hash"]["anyOf"][0]["enum"]) {
    described.insert(name.get<std::string>());
  }
  std::set<std::string> known;
  for (const auto strategy : ringshard::hash_strategies()) known.emplace(to_string(strategy));
  CHECK(described == known);
}
