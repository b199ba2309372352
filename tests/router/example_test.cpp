#include <ringshard/ringshard.hpp>
#include <string>

#include "support/catch.hpp"
#include "support/fleet.hpp"
#include "support/paths.hpp"

namespace {

// [example]
std::int64_t add_invoice(ringshard::Cluster& cluster, std::int64_t customer, double total) {
  return cluster.transact(customer, [&](ringshard::Transaction& tx) {
    tx.execute("INSERT INTO invoice (customer_id, total) VALUES ($1, $2)", customer, total);
    return tx.query_value<std::int64_t>("SELECT count(*) FROM invoice WHERE customer_id = $1",
                                        customer);
  });
}
// [example]

// The text without white space, so that the lines may be broken elsewhere.
std::string squeezed(std::string text) {
  for (const char* left_out : {"///", " ", "\n"}) {
    for (auto at = text.find(left_out); at != std::string::npos; at = text.find(left_out, at)) {
      text.erase(at, std::string(left_out).size());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("the example in the header of Cluster is this one, and works") {
  using namespace ringshard::testing;
  RouterFleet fleet(
      {.statements = {"CREATE TABLE invoice (id INTEGER PRIMARY KEY, customer_id INTEGER, "
                      "total REAL)"}});
  ringshard::Cluster cluster = ringshard::Cluster::open(fleet.config_path);
  CHECK(add_invoice(cluster, 42, 9.99) == 1);
  CHECK(add_invoice(cluster, 42, 1.50) == 2);
  CHECK(cluster.scatter_sum("SELECT count(*) FROM invoice") == 2);

  const std::string mark = std::string("// [") + "example]";
  const std::string here = read_file(tests_folder() / "router/example_test.cpp");
  const auto begin = here.find(mark) + mark.size();
  const std::string example = here.substr(begin, here.find(mark, begin) - begin);
  const std::string header =
      read_file(tests_folder().parent_path() / "include/ringshard/cluster.hpp");
  CHECK(squeezed(header).find(squeezed(example)) != std::string::npos);
}
