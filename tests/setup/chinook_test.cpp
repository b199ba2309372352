#include <algorithm>
#include <string>
#include <vector>

#include "setup_fixture.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

const std::string shop_tables =
    "    - {name: Customer, key: CustomerId}\n"
    "    - {name: Invoice, key: CustomerId}\n"
    "    - {name: InvoiceLine, parent: {table: Invoice, columns: {InvoiceId: InvoiceId}}}\n"
    "    - {name: Employee, reference: true}\n"
    "    - {name: Track, reference: true}\n"
    "    - {name: Album, reference: true}\n"
    "    - {name: Artist, reference: true}\n"
    "    - {name: Genre, reference: true}\n"
    "    - {name: MediaType, reference: true}\n"
    "    - {name: Playlist, reference: true}\n"
    "    - {name: PlaylistTrack, reference: true}\n";

std::vector<std::string> sorted(std::vector<std::string> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

const ImportedTable& table_of(const ImportReport& report, const std::string& name) {
  return *std::find_if(report.tables.begin(), report.tables.end(),
                       [&](const ImportedTable& table) { return table.name == name; });
}

}  // namespace

TEST_CASE("a real shop is imported whole: every row once, joins and foreign keys as before") {
  const auto shop = shared_data("chinook/chinook.sqlite");
  if (!shop) return skip_test("no chinook.sqlite");
  FleetFixture fleet("int64", 64, shop_tables);
  CHECK(fleet.init().state == KeyspaceState::empty);
  const ImportReport report = fleet.import_file(*shop);

  CHECK(fleet.state() == KeyspaceState::ready);
  CHECK(report.tables.size() == 11);
  CHECK(table_of(report, "Customer").digest.rows == 59);
  CHECK(table_of(report, "Invoice").digest.rows == 412);
  CHECK(table_of(report, "InvoiceLine").digest.rows == 2240);
  CHECK(table_of(report, "InvoiceLine").kind == "parent");
  CHECK(table_of(report, "Track").kind == "reference");
  CHECK(report.notes.size() == 2);  // Customer -> Employee, InvoiceLine -> Track

  for (const std::string table : {"Customer", "Invoice", "InvoiceLine"}) {
    const std::string sql = "SELECT * FROM " + table;
    CHECK(fleet.in_all_homes(sql) == sorted(run_sql(*shop, sql)));
  }
  CHECK(fleet.in_all_homes("PRAGMA main.foreign_key_check").empty());
  double total = 0;
  for (const auto& row :
       fleet.in_all_homes("SELECT CAST(round(Total * 100) AS INTEGER) FROM Invoice"))
    total += std::stod(row);
  CHECK(total == 232860);

  const std::string join =
      "SELECT c.LastName, e.LastName, i.InvoiceId, l.InvoiceLineId, t.Name, g.Name, a.Title "
      "FROM Customer c JOIN Employee e ON e.EmployeeId = c.SupportRepId "
      "JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine l ON l.InvoiceId = "
      "i.InvoiceId "
      "JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId "
      "JOIN Album a ON a.AlbumId = t.AlbumId";
  CHECK(fleet.in_all_homes(join) == sorted(run_sql(*shop, join)));
}

TEST_CASE("homes of a real shop keep indexes and the foreign keys inside, references theirs") {
  const auto shop = shared_data("chinook/chinook.sqlite");
  if (!shop) return skip_test("no chinook.sqlite");
  FleetFixture fleet("int64", 4, shop_tables);
  fleet.init();
  fleet.import_file(*shop);
  const auto home = fleet.homes().at(0);
  CHECK(run_sql(home, "SELECT \"table\" FROM pragma_foreign_key_list('InvoiceLine')") ==
        std::vector<std::string>{"Invoice"});
  CHECK(run_sql(home, "SELECT count(*) FROM sqlite_schema WHERE name = 'IFK_InvoiceLineTrackId'") ==
        std::vector<std::string>{"1"});
  const auto reference = fleet.node("a") / "shop_reference.db";
  CHECK(run_sql(reference, "SELECT count(*) FROM pragma_foreign_key_list('Track')") ==
        std::vector<std::string>{"3"});
  CHECK(run_sql(reference, "SELECT count(*) FROM Track") == std::vector<std::string>{"3503"});
  CHECK(run_sql(reference, "PRAGMA foreign_key_check").empty());
}

TEST_CASE("a node that joins gets the reference tables of the others, and once is enough") {
  const auto shop = shared_data("chinook/chinook.sqlite");
  if (!shop) return skip_test("no chinook.sqlite");
  FleetFixture fleet("int64", 4, shop_tables);
  fleet.init();
  fleet.import_file(*shop);
  Catalog catalog = fleet.catalog();
  NodeInfo node;
  node.name = "d";
  node.dsn = "sqlite:" + fleet.node("d").string();
  const auto reference = fleet.node("d") / "shop_reference.db";
  const auto add = [&] {
    add_node_homes(catalog, "shop", node, {}, system_clock(), fleet.progress);
  };
  add();
  const std::string sql = "SELECT * FROM Track ORDER BY TrackId";
  CHECK(run_sql(reference, sql) == run_sql(*shop, sql));
  const auto written = std::filesystem::last_write_time(reference);
  add();
  CHECK(std::filesystem::last_write_time(reference) == written);
  run_sql(reference, "DELETE FROM PlaylistTrack WHERE TrackId = 1");
  add();
  CHECK(run_sql(reference, "SELECT count(*) FROM PlaylistTrack") ==
        run_sql(*shop, "SELECT count(*) FROM PlaylistTrack"));
}
