#include "demo/prove.hpp"

#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace ringshard::demo {
namespace {

using nlohmann::json;

json read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

std::string with_decimals(double value, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

/// Collects the lines and whether all of them are as they have to be.
class Findings {
 public:
  explicit Findings(std::ostream& out) : out_(out) {}

  void line(const std::string& what, const std::string& value, bool good,
            const std::string& must = "") {
    out_ << "  " << std::left << std::setw(46) << what << std::right << std::setw(12) << value
         << (good ? "   ok" : "   WRONG") << (must.empty() ? "" : "  (" + must + ")") << "\n";
    all_good_ = all_good_ && good;
  }
  void zero(const std::string& what, std::int64_t value) {
    line(what, std::to_string(value), value == 0, "must be 0");
  }
  void some(const std::string& what, std::int64_t value) {
    line(what, std::to_string(value), value > 0, "must be more than 0");
  }

  bool all_good() const { return all_good_; }

 private:
  std::ostream& out_;
  bool all_good_ = true;
};

}  // namespace

bool prove(const Evidence& evidence, std::ostream& out) {
  const json plan = read(evidence.plan);
  const json apply = read(evidence.apply);
  const json workload = read(evidence.workload);
  const json audit = read(evidence.audit);
  const json verify = read(evidence.verify);

  Findings found(out);
  out << "\nWhat was proved\n";
  found.some("writes acknowledged while shards moved", workload["writes"].get<std::int64_t>());
  found.some("reads checked while shards moved", workload["reads"].get<std::int64_t>());
  found.zero("acknowledged writes lost", audit["acknowledged_lost"].get<std::int64_t>());
  found.zero("writes that nobody made", audit["never_issued"].get<std::int64_t>());
  found.zero("reads that saw old or no data", workload["stale_reads"].get<std::int64_t>());
  found.zero("reads that contradict themselves", workload["impossible_reads"].get<std::int64_t>());
  found.zero(
      "accounts that contradict themselves",
      audit["inconsistent"].get<std::int64_t>() + audit["missing_accounts"].get<std::int64_t>());
  found.zero("writes refused to the application",
             workload["writes_failed"].get<std::int64_t>() +
                 workload["writes_unknown"].get<std::int64_t>());
  found.zero("reads refused to the application", workload["reads_failed"].get<std::int64_t>());

  const auto planned = static_cast<std::int64_t>(plan["moves"].size());
  const std::int64_t done = apply["stages"].value("done", std::int64_t{0});
  found.line("shards moved", std::to_string(done), done == planned && planned > 0,
             "planned: " + std::to_string(planned));
  found.some("rows moved", apply["rows_copied"].get<std::int64_t>());
  const double share = plan["share_moved"].get<double>();
  const double least = plan["least_share"].get<double>();
  found.line("share of shards moved", with_decimals(100 * share, 2) + " %", share <= least + 1e-9,
             "theoretical least: " + with_decimals(100 * least, 2) + " %");
  found.line("balance after (largest / mean)",
             with_decimals(plan["balance_after"].get<double>(), 3),
             plan["balance_after"].get<double>() < 1.1,
             "before: " + with_decimals(plan["balance_before"].get<double>(), 3));
  found.line("every home verified afterwards", verify["verdict"].get<std::string>(),
             verify["verdict"] == "verified");

  const json& pause = apply["pause_us"];
  const double longest = pause["max"].get<double>() / 1000;
  found.line("write pause of a shard, p50",
             with_decimals(pause["p50"].get<double>() / 1000, 1) + " ms", true);
  found.line("write pause of a shard, p99",
             with_decimals(pause["p99"].get<double>() / 1000, 1) + " ms", true);
  found.line("write pause of a shard, longest", with_decimals(longest, 1) + " ms",
             longest <= evidence.pause_budget_ms,
             "budget: " + with_decimals(evidence.pause_budget_ms, 0) + " ms");
  out << "\nThe application's writes: p50 "
      << with_decimals(workload["write_p50_us"].get<double>() / 1000, 1) << " ms, p99 "
      << with_decimals(workload["write_p99_us"].get<double>() / 1000, 1) << " ms, longest "
      << with_decimals(workload["write_max_us"].get<double>() / 1000, 1) << " ms; "
      << workload["redirects"].get<std::int64_t>() << " calls were redirected, "
      << workload["mirror_writes"].get<std::int64_t>() << " writes were doubled.\n";
  return found.all_good();
}

}  // namespace ringshard::demo
