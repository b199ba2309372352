#include "demo/workload.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "demo/bank.hpp"
#include "support/clock.hpp"

namespace ringshard::demo {
namespace {

using Steady = std::chrono::steady_clock;

/// One thread's part; added up at the end, so that threads share nothing but the ledger.
struct Part {
  WorkloadReport report;
  std::vector<std::int64_t> write_us;
};

void note(WorkloadReport& report, const Error& error) {
  // Numbers differ from case to case: keep the kind apart, not each case.
  std::string text(to_string(error.code()));
  text += ": ";
  text += error.what();
  if (report.errors.size() < 20 || report.errors.contains(text)) ++report.errors[text];
}

/// What the database says now; after a failure that is the only way to know. Nothing if it was told
/// to stop.
std::optional<std::int64_t> settle(Cluster& cluster, std::int64_t account,
                                   const std::atomic<bool>& stop) {
  while (!stop.load()) {
    try {
      const auto state = look(cluster, account);
      return state ? state->version : 0;
    } catch (const Error&) {
      system_clock().sleep_for(std::chrono::milliseconds(5));
    }
  }
  return std::nullopt;
}

void write_until(Cluster& cluster, Ledger& ledger, const WorkloadOptions& options, int slot,
                 const std::atomic<bool>& stop, Part& part) {
  const int slots = options.processes * options.writers;
  std::mt19937_64 random(options.seed * 1000 + static_cast<std::uint64_t>(slot));
  const std::int64_t mine = (ledger.accounts() - slot + slots - 1) / slots;
  if (mine <= 0) return;
  std::uniform_int_distribution<std::int64_t> pick(0, mine - 1);
  std::uniform_int_distribution<std::int64_t> amount(-500, 500);
  while (!stop.load()) {
    const std::int64_t account = pick(random) * slots + slot;
    // Nobody else writes this account, so its next version is known.
    const std::int64_t version = ledger.acknowledged(account).load() + 1;
    ledger.issued(account).store(version);
    const auto began = Steady::now();
    try {
      post(cluster, account, version, amount(random));
      ledger.acknowledged(account).store(version);
      ++part.report.writes;
    } catch (const Error& error) {
      note(part.report, error);
      ++(error.outcome_unknown() ? part.report.writes_unknown : part.report.writes_failed);
      const auto found = settle(cluster, account, stop);
      if (!found) return;
      if (*found == version) ledger.acknowledged(account).store(version);
    }
    part.write_us.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - began).count());
    system_clock().sleep_for(options.think_time);
  }
}

void read_until(Cluster& cluster, Ledger& ledger, const WorkloadOptions& options, int reader,
                const std::atomic<bool>& stop, Part& part) {
  std::mt19937_64 random(options.seed * 7000 + static_cast<std::uint64_t>(reader));
  std::uniform_int_distribution<std::int64_t> pick(0, ledger.accounts() - 1);
  while (!stop.load()) {
    const std::int64_t account = pick(random);
    const std::int64_t acknowledged = ledger.acknowledged(account).load();
    try {
      const auto state = look(cluster, account);
      ++part.report.reads;
      if (!state || state->version < acknowledged) {
        ++part.report.stale_reads;
      } else if (state->version > ledger.issued(account).load() || !state->consistent()) {
        ++part.report.impossible_reads;
      }
    } catch (const Error& error) {
      note(part.report, error);
      ++part.report.reads_failed;
    }
    system_clock().sleep_for(options.think_time);
  }
}

std::int64_t quantile(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

WorkloadReport run_workload(Cluster& cluster, Ledger& ledger, const WorkloadOptions& options,
                            const std::atomic<bool>& stop) {
  std::vector<Part> parts(static_cast<std::size_t>(options.writers + options.readers));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < options.writers; ++i)
      threads.emplace_back([&, i] {
        write_until(cluster, ledger, options, options.process * options.writers + i, stop,
                    parts[static_cast<std::size_t>(i)]);
      });
    for (int i = 0; i < options.readers; ++i)
      threads.emplace_back([&, i] {
        read_until(cluster, ledger, options, options.process * options.readers + i, stop,
                   parts[static_cast<std::size_t>(options.writers + i)]);
      });
  }
  WorkloadReport total;
  std::vector<std::int64_t> write_us;
  for (const Part& part : parts) {
    total.writes += part.report.writes;
    total.writes_failed += part.report.writes_failed;
    total.writes_unknown += part.report.writes_unknown;
    total.reads += part.report.reads;
    total.reads_failed += part.report.reads_failed;
    total.stale_reads += part.report.stale_reads;
    total.impossible_reads += part.report.impossible_reads;
    for (const auto& [text, count] : part.report.errors) total.errors[text] += count;
    write_us.insert(write_us.end(), part.write_us.begin(), part.write_us.end());
  }
  std::sort(write_us.begin(), write_us.end());
  total.write_p50_us = quantile(write_us, 0.50);
  total.write_p99_us = quantile(write_us, 0.99);
  total.write_max_us = write_us.empty() ? 0 : write_us.back();
  total.router = cluster.statistics();
  return total;
}

}  // namespace ringshard::demo
