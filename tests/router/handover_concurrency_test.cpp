#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "router/hooked_backend.hpp"
#include "support/catch.hpp"

using namespace ringshard;
using namespace ringshard::testing;

namespace {

constexpr ShardId shard{0};  // placed on node a
constexpr int writers = 3;
constexpr int readers = 2;
constexpr int handovers = 20;

/// What was acknowledged, by writer: each writer counts its own row up.
struct Ledger {
  std::array<std::atomic<std::int64_t>, writers> acknowledged{};
  std::atomic<std::int64_t> stale_reads{0};
  std::atomic<std::int64_t> lost_updates{0};
  std::atomic<std::int64_t> failures{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::string failure;  // the first one; guarded by mutex

  void failed(const std::exception& error) {
    std::lock_guard lock(mutex);
    if (failures++ == 0) failure = error.what();
  }
};

/// Stopped and joined at the end of the scope, whatever happens in it.
class Threads {
 public:
  explicit Threads(Ledger& ledger) : ledger_(ledger) {}
  ~Threads() { stop(); }
  template <class Work>
  void start(Work work) {
    threads_.emplace_back(std::move(work));
  }
  void stop() {
    ledger_.stop = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  Ledger& ledger_;
  std::vector<std::thread> threads_;
};

void write_on(Cluster& cluster, std::int64_t customer, int writer, Ledger& ledger) {
  for (std::int64_t next = 1; !ledger.stop; ++next) {
    try {
      cluster.transact(customer, [&](Transaction& tx) {
        const auto last =
            tx.query_value<std::int64_t>("SELECT customer FROM item WHERE id = $1", writer);
        if (last != next - 1) ++ledger.lost_updates;
        tx.execute("UPDATE item SET customer = $2 WHERE id = $1", writer, next);
        tx.execute("INSERT INTO item VALUES ($1, $2, 'log')", 1'000'000 * (writer + 1) + next,
                   next);
      });
      ledger.acknowledged[static_cast<std::size_t>(writer)] = next;
    } catch (const std::exception& error) {
      ledger.failed(error);
      return;
    }
  }
}

void read_on(Cluster& cluster, std::int64_t customer, Ledger& ledger) {
  while (!ledger.stop) {
    try {
      for (int writer = 0; writer < writers; ++writer) {
        const std::int64_t known = ledger.acknowledged[static_cast<std::size_t>(writer)];
        const auto seen = cluster.query_value<std::int64_t>(
            customer, "SELECT customer FROM item WHERE id = $1", writer);
        if (seen < known) ++ledger.stale_reads;
      }
    } catch (const std::exception& error) {
      ledger.failed(error);
      return;
    }
  }
}

std::int64_t acknowledged(const Ledger& ledger) {
  std::int64_t all = 0;
  for (const auto& each : ledger.acknowledged) all += each;
  return all;
}

}  // namespace

TEST_CASE("while a shard goes to and fro no write is lost and no read is stale") {
  RouterFleet fleet({.router = "deadline: 60s, poll_interval: 5ms, mirror_timeout: 2s"});
  Cluster first = Cluster::open(fleet.config);
  Cluster second = Cluster::open(fleet.config);
  const std::int64_t customer = fleet.key_of(shard);
  for (int writer = 0; writer < writers; ++writer) {
    first.execute(customer, "INSERT INTO item VALUES ($1, 0, 'counter')", writer);
  }
  Ledger ledger;
  Threads threads(ledger);
  for (int i = 0; i < writers; ++i) {
    threads.start([&, i] { write_on(i % 2 == 0 ? first : second, customer, i, ledger); });
  }
  for (int i = 0; i < readers; ++i) {
    threads.start([&, i] { read_on(i % 2 == 0 ? second : first, customer, ledger); });
  }
  fleet.begin_move(shard, "a", "b");
  std::string owner = "a";
  std::string other = "b";
  for (int i = 0; i < handovers && ledger.failures == 0; ++i) {
    // Some writes of this leg first.
    const std::int64_t before = acknowledged(ledger);
    while (acknowledged(ledger) < before + 5 && ledger.failures == 0) {
      fleet.clock.sleep_for(std::chrono::milliseconds(1));
    }
    fleet.decide(shard, owner, other);
    // Every other one is left to the routers.
    if (i % 2 == 0) fleet.promote(shard, owner, other);
    if (i % 5 == 4) fleet.place(shard, other);
    std::swap(owner, other);
    while (fleet.record(owner, shard).role != Role::owner && ledger.failures == 0) {
      fleet.clock.sleep_for(std::chrono::milliseconds(1));
    }
  }
  threads.stop();

  INFO(ledger.failure);
  CHECK(ledger.failures == 0);
  CHECK(ledger.stale_reads == 0);
  CHECK(ledger.lost_updates == 0);
  CHECK(fleet.record(owner, shard).leg == handovers + 1);
  for (int writer = 0; writer < writers; ++writer) {
    const std::int64_t last = ledger.acknowledged[static_cast<std::size_t>(writer)];
    const std::string log = "SELECT count(*) FROM item WHERE text = 'log' AND id / 1000000 = " +
                            std::to_string(writer + 1);
    CHECK(first.query_value<std::int64_t>(customer, log) == last);
  }
  const auto statistics = [&](auto member) {
    return first.statistics().*member + second.statistics().*member;
  };
  // Those that were left to them; and some where a router came before this thread.
  CHECK(statistics(&RouterStatistics::finished_handovers) >= handovers / 2);
  CHECK(statistics(&RouterStatistics::mirror_writes) > 0);
  // The last leg's mirror has everything too: what is in the change log and not there is applied by
  // a handover.
  fleet.decide(shard, owner, other);
  CHECK(fleet.integer(owner, shard, count_items) == fleet.integer(other, shard, count_items));
}
