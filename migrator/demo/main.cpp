// The application of the demonstration: it writes and reads accounts through the router while their
// shards move, and keeps book of what was acknowledged.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "demo/bank.hpp"
#include "demo/prove.hpp"
#include "demo/workload.hpp"
#include "support/clock.hpp"
#include "support/fault.hpp"

namespace {

using namespace ringshard;
using namespace ringshard::demo;

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void print(const WorkloadReport& report) {
  nlohmann::json json = {
      {"writes", report.writes},
      {"writes_failed", report.writes_failed},
      {"writes_unknown", report.writes_unknown},
      {"reads", report.reads},
      {"reads_failed", report.reads_failed},
      {"stale_reads", report.stale_reads},
      {"impossible_reads", report.impossible_reads},
      {"write_p50_us", report.write_p50_us},
      {"write_p99_us", report.write_p99_us},
      {"write_max_us", report.write_max_us},
      {"redirects", report.router.redirects},
      {"mirror_writes", report.router.mirror_writes},
      {"mirror_failures", report.router.mirror_failures},
      {"finished_handovers", report.router.finished_handovers},
      {"errors", report.errors},
  };
  std::cout << json.dump(2) << std::endl;
}

void print(const AuditReport& report) {
  nlohmann::json json = {
      {"accounts", report.accounts},
      {"acknowledged", report.acknowledged},
      {"acknowledged_lost", report.acknowledged_lost},
      {"never_issued", report.never_issued},
      {"inconsistent", report.inconsistent},
      {"missing_accounts", report.missing_accounts},
      {"history_rows", report.history_rows},
  };
  std::cout << json.dump(2) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("An application that writes and reads accounts through ringshard's router");
  app.require_subcommand(1);
  std::string config;
  std::string ledger_path;
  std::int64_t accounts = 1000;
  app.add_option("--config", config, "configuration of the router");
  app.add_option("--accounts", accounts, "number of accounts")->check(CLI::PositiveNumber);

  std::int64_t history = 20;
  CLI::App* const seeding = app.add_subcommand("seed", "make the accounts");
  seeding->add_option("--history", history, "old entries of each account");

  WorkloadOptions options;
  double seconds = 0;
  int think_us = 0;
  CLI::App* const running = app.add_subcommand("run", "write and read until SIGTERM");
  running->add_option("--ledger", ledger_path, "file that keeps what was acknowledged")->required();
  running->add_option("--writers", options.writers);
  running->add_option("--readers", options.readers);
  running->add_option("--process", options.process, "which process this is, from 0");
  running->add_option("--processes", options.processes, "how many there are");
  running->add_option("--seed", options.seed);
  running->add_option("--seconds", seconds, "end by itself after so long");
  running->add_option("--think-us", think_us, "microseconds between two writes of a thread");

  CLI::App* const auditing =
      app.add_subcommand("audit", "compare what is there with what was acknowledged");
  auditing->add_option("--ledger", ledger_path)->required();

  Evidence evidence;
  CLI::App* const proving = app.add_subcommand("prove", "print what a demonstration proved");
  proving->add_option("--plan", evidence.plan)->required();
  proving->add_option("--apply", evidence.apply)->required();
  proving->add_option("--workload", evidence.workload)->required();
  proving->add_option("--audit", evidence.audit)->required();
  proving->add_option("--verify", evidence.verify)->required();
  proving->add_option("--pause-budget-ms", evidence.pause_budget_ms);
  CLI11_PARSE(app, argc, argv);
  options.think_time = std::chrono::microseconds(think_us);

  for (const int signal : {SIGTERM, SIGINT}) ::signal(signal, [](int) { stop.store(true); });
  try {
    fault::arm_from_environment();
    if (proving->parsed()) return prove(evidence, std::cout) ? 0 : 3;
    if (config.empty()) throw std::runtime_error("--config is missing");
    Cluster cluster = Cluster::open(std::filesystem::path(config));
    if (seeding->parsed()) {
      seed(cluster, accounts, history);
      return 0;
    }
    Ledger ledger(ledger_path, accounts);
    if (auditing->parsed()) {
      const AuditReport report = audit(cluster, ledger);
      print(report);
      return report.clean() ? 0 : 3;
    }
    std::jthread timer([&](const std::stop_token& done) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
      while (seconds > 0 && !done.stop_requested() && !stop.load()) {
        if (std::chrono::steady_clock::now() >= end) stop.store(true);
        system_clock().sleep_for(std::chrono::milliseconds(20));
      }
    });
    const WorkloadReport report = run_workload(cluster, ledger, options, stop);
    timer.request_stop();
    print(report);
    return report.clean() ? 0 : 3;
  } catch (const std::exception& error) {
    std::cerr << "ringshard-demo: " << error.what() << std::endl;
    return 1;
  }
}
