// A real sample shop is moved in a fleet that grows while its customers go on buying.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <ringshard/ringshard.hpp>
#include <string>
#include <thread>
#include <vector>

#include "migrator/proof/program_fleet.hpp"
#include "support/catch.hpp"
#include "support/clock.hpp"

namespace ringshard::testing {
namespace {

constexpr auto shop_keyspace = R"(  name: shop
  key: int64
  shards: 64
  tables:
    - {name: Customer, key: CustomerId}
    - {name: Invoice, key: CustomerId}
    - {name: InvoiceLine, parent: {table: Invoice, columns: {InvoiceId: InvoiceId}}}
    - {name: Employee, reference: true}
    - {name: Track, reference: true}
    - {name: Album, reference: true}
    - {name: Artist, reference: true}
    - {name: Genre, reference: true}
    - {name: MediaType, reference: true}
    - {name: Playlist, reference: true}
    - {name: PlaylistTrack, reference: true}
)";

constexpr auto shop_settings = R"(sqlite: {synchronous: normal}
router: {poll_interval: 100ms}
move: {chunk_rows: 20, observe_for: 1h}
)";

/// Ids from here on belong to the writers; those of the original data are below.
constexpr std::int64_t writers_ids = 1'000'000;
constexpr int lines_per_invoice = 3;

/// Four threads that buy, through one Cluster: an invoice and its lines in one transaction.
class Customers {
 public:
  static constexpr int writers = 4;

  explicit Customers(Cluster& cluster) : cluster_(cluster) {
    for (int i = 0; i < writers; ++i) threads_.emplace_back([this, i] { buy(i); });
  }
  Customers(const Customers&) = delete;
  ~Customers() { stop(); }

  void stop() {
    stop_.store(true);
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

  /// Returns when each of the writers has had so many more invoices acknowledged.
  void wait_for_more(std::int64_t invoices) {
    for (auto& count : counts_) {
      const std::int64_t wanted = count.load() + invoices;
      const Deadline limit = Deadline::after(system_clock(), std::chrono::seconds(60));
      while (count.load() < wanted) {
        REQUIRE_FALSE(limit.passed(system_clock()));
        system_clock().sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

  /// After stop(): customer by acknowledged invoice, and what failed.
  const std::map<std::int64_t, std::int64_t>& acknowledged() const { return acknowledged_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void buy(int writer) {
    std::mt19937 random(static_cast<unsigned>(writer) + 1);
    std::uniform_int_distribution<std::int64_t> customers(1, 59);
    std::uniform_int_distribution<std::int64_t> tracks(1, 3503);
    for (std::int64_t number = 0; !stop_.load(); ++number) {
      const std::int64_t invoice = writers_ids * (writer + 1) + number;
      const std::int64_t customer = customers(random);
      try {
        buy_one(customer, invoice, tracks(random));
        const std::lock_guard lock(mutex_);
        acknowledged_.emplace(invoice, customer);
      } catch (const Error& error) {
        const std::lock_guard lock(mutex_);
        failures_.emplace_back(error.what());
      }
      counts_[static_cast<std::size_t>(writer)].fetch_add(1);
      system_clock().sleep_for(std::chrono::milliseconds(1));
    }
  }

  void buy_one(std::int64_t customer, std::int64_t invoice, std::int64_t track) {
    cluster_.transact(customer, [&](Transaction& tx) {
      tx.execute(
          "INSERT INTO Invoice (InvoiceId, CustomerId, InvoiceDate, Total)"
          " VALUES ($1, $2, '2024-02-29', 0)",
          invoice, customer);
      for (std::int64_t line = 0; line < lines_per_invoice; ++line)
        tx.execute(
            "INSERT INTO InvoiceLine (InvoiceLineId, InvoiceId, TrackId, UnitPrice, Quantity)"
            " VALUES ($1, $2, $3, 0.99, 1)",
            invoice * lines_per_invoice + line, invoice, track);
      tx.execute(
          "UPDATE Invoice SET Total = (SELECT sum(UnitPrice * Quantity) FROM InvoiceLine"
          " WHERE InvoiceId = $1) WHERE InvoiceId = $1",
          invoice);
    });
  }

  Cluster& cluster_;
  std::atomic<bool> stop_{false};
  std::array<std::atomic<std::int64_t>, writers> counts_{};
  std::mutex mutex_;
  // guarded by mutex_
  std::map<std::int64_t, std::int64_t> acknowledged_;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

using Homes = std::map<std::string, std::filesystem::path>;

std::vector<std::string> rows_of_all(const Homes& homes, const std::string& sql) {
  std::vector<std::string> rows;
  for (const auto& [name, file] : homes) {
    const auto found = rows_of(file, sql);
    rows.insert(rows.end(), found.begin(), found.end());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

void require_original_rows(const Homes& homes, const std::filesystem::path& shop) {
  const std::map<std::string, std::size_t> expected{
      {"Customer", 59}, {"Invoice", 412}, {"InvoiceLine", 2240}};
  for (const auto& [table, count] : expected) {
    INFO(table);
    const auto original = rows_of(shop, "SELECT * FROM " + table);
    REQUIRE(original.size() == count);
    const auto found = rows_of_all(homes, "SELECT * FROM " + table + " WHERE " + table + "Id < " +
                                              std::to_string(writers_ids));
    CHECK(found.size() == original.size());
    CHECK(found == original);
  }
  std::int64_t cents = 0;
  for (const std::string& row :
       rows_of_all(homes,
                   "SELECT CAST(round(Total * 100) AS INTEGER) FROM Invoice"
                   " WHERE InvoiceId < " +
                       std::to_string(writers_ids)))
    cents += std::stoll(row.substr(row.find(' ')));
  CHECK(cents == 232860);
}

/// The writers' invoices are those that were acknowledged, once each and whole.
void require_acknowledged_rows(const Homes& homes,
                               const std::map<std::int64_t, std::int64_t>& acknowledged) {
  std::vector<std::string> expected;
  for (const auto& [invoice, customer] : acknowledged)
    expected.push_back("integer " + std::to_string(invoice) + "|integer " +
                       std::to_string(customer) + "|integer " + std::to_string(lines_per_invoice) +
                       "|integer 297|");
  std::sort(expected.begin(), expected.end());
  const auto found =
      rows_of_all(homes,
                  "SELECT i.InvoiceId, i.CustomerId,"
                  " (SELECT count(*) FROM InvoiceLine l WHERE l.InvoiceId = i.InvoiceId),"
                  " CAST(round(i.Total * 100) AS INTEGER) FROM Invoice i WHERE i.InvoiceId >= " +
                      std::to_string(writers_ids));
  CHECK(found.size() == expected.size());
  CHECK(found == expected);
  const auto lines =
      rows_of_all(homes, "SELECT InvoiceLineId FROM InvoiceLine WHERE InvoiceLineId >= " +
                             std::to_string(writers_ids));
  CHECK(lines.size() == expected.size() * lines_per_invoice);
}

/// Questions that join a customer's rows with what every node holds whole. Each groups by a name;
/// what the shards answer is added up.
const std::map<std::string, std::string>& questions() {
  static const std::map<std::string, std::string> all{
      {"revenue of each genre",
       "SELECT g.Name, CAST(round(sum(l.UnitPrice * l.Quantity * 100)) AS INTEGER)"
       " FROM InvoiceLine l JOIN Track t ON t.TrackId = l.TrackId"
       " JOIN Genre g ON g.GenreId = t.GenreId WHERE l.InvoiceLineId < 1000000 GROUP BY g.Name"},
      {"revenue of each artist",
       "SELECT a.Name, CAST(round(sum(l.UnitPrice * l.Quantity * 100)) AS INTEGER)"
       " FROM InvoiceLine l JOIN Track t ON t.TrackId = l.TrackId"
       " JOIN Album b ON b.AlbumId = t.AlbumId JOIN Artist a ON a.ArtistId = b.ArtistId"
       " WHERE l.InvoiceLineId < 1000000 GROUP BY a.Name"},
      {"revenue of each employee's customers",
       "SELECT e.LastName, CAST(round(sum(i.Total * 100)) AS INTEGER) FROM Invoice i"
       " JOIN Customer c ON c.CustomerId = i.CustomerId"
       " JOIN Employee e ON e.EmployeeId = c.SupportRepId"
       " WHERE i.InvoiceId < 1000000 GROUP BY e.LastName"},
      {"lines of each media type",
       "SELECT m.Name, count(*) FROM InvoiceLine l JOIN Track t ON t.TrackId = l.TrackId"
       " JOIN MediaType m ON m.MediaTypeId = t.MediaTypeId"
       " WHERE l.InvoiceLineId < 1000000 GROUP BY m.Name"},
      {"lines in each playlist",
       "SELECT p.Name, count(*) FROM InvoiceLine l"
       " JOIN PlaylistTrack pt ON pt.TrackId = l.TrackId"
       " JOIN Playlist p ON p.PlaylistId = pt.PlaylistId"
       " WHERE l.InvoiceLineId < 1000000 GROUP BY p.Name"}};
  return all;
}

using Answer = std::map<std::string, std::int64_t>;

Answer answer_of_shop(const std::filesystem::path& shop, const std::string& question) {
  Answer answer;
  for (const std::string& row : rows_of(shop, question)) {
    const auto bar = row.find('|');
    answer[row.substr(row.find(' ') + 1, bar - row.find(' ') - 1)] =
        std::stoll(row.substr(row.find(' ', bar)));
  }
  return answer;
}

Answer answer_of_fleet(Cluster& cluster, const std::string& question) {
  Answer answer;
  for (const auto& reply : cluster.scatter([&](ShardId, ReadTransaction& tx) {
         Answer part;
         for (const auto& row : tx.query(question))
           part[row.at<std::string>(0)] = row.at<std::int64_t>(1);
         return part;
       }))
    for (const auto& [name, value] : reply.value()) answer[name] += value;
  return answer;
}

}  // namespace

TEST_CASE(
    "a real shop moves to a fourth node while its customers buy: nothing lost, all answers the "
    "same") {
  const auto shop = shared_data("chinook/chinook.sqlite");
  if (!shop) return skip_test("no chinook.sqlite");
  const ProgramFleet fleet(shop_keyspace, shop_settings);
  fleet.configure({"a", "b", "c"});
  fleet.done({"init"});
  fleet.done({"import", "--from", "sqlite:" + shop->string()});
  fleet.require_sound();

  Cluster cluster = Cluster::open(fleet.config_file());
  Customers customers(cluster);
  customers.wait_for_more(10);
  fleet.configure({"a", "b", "c", "d"});
  const auto plan = fleet.done({"plan"});
  const auto applied = fleet.done({"apply"});
  CHECK(applied["moves"].size() == 16);
  CHECK(applied["stages"]["observing"] == 16);
  customers.wait_for_more(10);
  const auto finalized = fleet.done({"finalize", "--all"});
  CHECK(finalized["stages"]["done"] == 16);
  customers.wait_for_more(10);
  customers.stop();

  CHECK(customers.failures() == std::vector<std::string>{});
  CHECK(cluster.statistics().mirror_writes > 0);
  fleet.require_sound();
  const Homes homes = fleet.homes({"a", "b", "c", "d"});
  CHECK(homes.size() == 64);
  require_original_rows(homes, *shop);
  require_acknowledged_rows(homes, customers.acknowledged());
  CHECK(rows_of_all(homes, "PRAGMA foreign_key_check").empty());
  for (const auto& [name, question] : questions()) {
    INFO(name);
    const Answer expected = answer_of_shop(*shop, question);
    CHECK_FALSE(expected.empty());
    CHECK(answer_of_fleet(cluster, question) == expected);
  }
}

}  // namespace ringshard::testing
