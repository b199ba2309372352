// bench_report [--json FILE] <output of Google Benchmark as JSON>...
//
// Makes one table of the figures that ringshard promises: each with the peer that was measured in
// the same run. With repetitions a figure is the median of them. A goal is an upper bound: of the
// ratio, or of the value where there is no peer; a rate has no goal.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

/// What was measured under one name.
struct Measured {
  double nanoseconds = 0;
  json counters;  // items_per_second and what the benchmark itself counted
};
using Results = std::map<std::string, Measured>;

double nanoseconds_in(const std::string& unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s") return 1e9;
  throw std::runtime_error("unknown unit of time: " + unit);
}

void read_results(const std::string& file, Results& results) {
  std::ifstream input(file);
  const json document = json::parse(input);
  for (const json& entry : document.at("benchmarks")) {
    if (entry.value("error_occurred", false))
      throw std::runtime_error(entry.at("name").get<std::string>() +
                               " failed: " + entry.value("error_message", std::string()));
    const bool aggregate = entry.at("run_type") == "aggregate";
    if (aggregate && entry.at("aggregate_name") != "median") continue;
    const double unit = nanoseconds_in(entry.at("time_unit").get<std::string>());
    results[entry.at("run_name").get<std::string>()] = {entry.at("real_time").get<double>() * unit,
                                                        entry};
  }
}

struct Figure {
  std::string name;
  std::string measured;  // a benchmark's name
  std::string unit;      // ns, us, ms: its time; else a counter of this name
  std::string counter;
  std::string peer;  // empty: none
  std::string peer_measured;
  std::optional<double> goal;
};

struct Line {
  Figure figure;
  double value = 0;
  std::optional<double> ratio;
  std::optional<bool> met;
};

double value_of(const Results& results, const std::string& name, const Figure& figure) {
  const auto found = results.find(name);
  if (found == results.end()) throw std::runtime_error("there is no result of " + name);
  if (figure.counter.empty()) return found->second.nanoseconds / nanoseconds_in(figure.unit);
  // Counters of time are in microseconds.
  const double value = found->second.counters.at(figure.counter).get<double>();
  return figure.unit == "ms" ? value / 1e3 : value;
}

Line evaluate(const Results& results, const Figure& figure) {
  Line line{figure, value_of(results, figure.measured, figure), std::nullopt, std::nullopt};
  if (!figure.peer.empty())
    line.ratio = line.value / value_of(results, figure.peer_measured, figure);
  if (figure.goal) line.met = line.ratio.value_or(line.value) <= *figure.goal;
  return line;
}

void add_routes(std::vector<Figure>& figures) {
  struct Kind {
    const char* name;
    const char* suffix;
    double goal;
  };
  for (const Kind& kind : {Kind{"int64 key", "int64", 3}, Kind{"36-byte text", "text36", 2}}) {
    for (const char* nodes : {"10", "100", "1000"}) {
      const std::string name = std::string("route ") + kind.name + ", " + nodes + " nodes";
      const std::string suffix = std::string(kind.suffix) + "/" + nodes;
      figures.push_back({name, "route_" + suffix, "ns", "", "XXH3 alone",
                         std::string("hash_") + kind.suffix, kind.goal});
      figures.push_back({name, "route_" + suffix, "ns", "", "ring in a std::map",
                         "map_ring_" + suffix,
                         suffix[0] == 'i' ? std::optional<double>(0.05) : std::nullopt});
    }
  }
}

void add_transactions(std::vector<Figure>& figures) {
  for (const char* mode : {"full", "normal"}) {
    const std::string in = std::string(", synchronous=") + (mode[0] == 'f' ? "FULL" : "NORMAL");
    const auto run = [&](const char* work, const char* who) {
      return std::string(work) + "/" + mode + "/" + who + "/real_time";
    };
    figures.push_back({"transact, update of one row" + in, run("update", "ringshard"), "us", "",
                       "bare sqlite3", run("update", "sqlite3"), 1.15});
    figures.push_back({"transact, insert of one row" + in, run("insert", "ringshard"), "us", "",
                       "bare sqlite3", run("insert", "sqlite3"), 1.15});
    figures.push_back({"double write of one row" + in, run("update_mirrored", "ringshard"), "us",
                       "", "single write", run("update", "ringshard"), 2.5});
  }
  figures.push_back({"read of one row", "read/normal/ringshard/real_time", "us", "", "bare sqlite3",
                     "read/normal/sqlite3/real_time", std::nullopt});
}

/// Only where there were servers.
void add_postgres(std::vector<Figure>& figures, const Results& results) {
  if (!results.contains("postgres_upsert/real_time")) return;
  figures.push_back({"PostgreSQL: transact, upsert of one row", "postgres_upsert/real_time", "us",
                     "", "bare libpq, three messages", "bare_upsert/real_time", 1.1});
  figures.push_back({"PostgreSQL: double write of one row", "postgres_upsert_mirrored/real_time",
                     "us", "", "single write", "postgres_upsert/real_time", 2.5});
  figures.push_back({"PostgreSQL: backfill", "postgres_backfill/iterations:1/manual_time", "rows/s",
                     "items_per_second", "psql COPY | psql COPY",
                     "psql_copy/iterations:1/manual_time", std::nullopt});
  figures.push_back({"PostgreSQL: verification, digest of one side", "postgres_digest/real_time",
                     "rows/s", "items_per_second", "count(*), sum(hashtextextended)",
                     "sum_of_hashes/real_time", std::nullopt});
  const std::string cutover = "postgres_cutover/iterations:1/repeats:1/real_time";
  for (const char* part : {"p50", "p99", "max"})
    figures.push_back({std::string("PostgreSQL: write pause of a cutover, ") + part, cutover, "ms",
                       std::string("pause_us_") + part, "", "",
                       part == std::string("p99") ? std::optional<double>(50) : std::nullopt});
}

std::vector<Figure> all_figures(const Results& results) {
  std::vector<Figure> figures;
  add_routes(figures);
  figures.push_back({"plan, 16,384 shards, 1,000 nodes", "plan_growth/1000", "ms", "", "", "", 50});
  add_transactions(figures);
  figures.push_back({"backfill", "backfill/iterations:1/manual_time", "rows/s", "items_per_second",
                     "INSERT ... SELECT through ATTACH",
                     "attach_insert_select/iterations:1/manual_time", std::nullopt});
  figures.push_back({"verification, digest of one side", "digest/real_time", "rows/s",
                     "items_per_second", "count(*), sum(length) of all columns",
                     "plain_scan/real_time", std::nullopt});
  const std::string cutover = "cutover/iterations:1/repeats:1/real_time";
  for (const char* part : {"p50", "p99", "max"}) {
    figures.push_back({std::string("write pause of a cutover, ") + part, cutover, "ms",
                       std::string("pause_us_") + part, "", "",
                       part == std::string("p99") ? std::optional<double>(50) : std::nullopt});
  }
  add_postgres(figures, results);
  return figures;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : value >= 10 ? "%.1f" : "%.3g", value);
  return text;
}

void print(const std::vector<Line>& lines) {
  std::printf("%-46s %12s  %-36s %8s %8s  %s\n", "figure", "value", "peer", "ratio", "goal", "met");
  for (const Line& line : lines) {
    const Figure& figure = line.figure;
    std::printf("%-46s %12s  %-36s %8s %8s  %s\n", figure.name.c_str(),
                (number(line.value) + " " + figure.unit).c_str(), figure.peer.c_str(),
                line.ratio ? number(*line.ratio).c_str() : "",
                figure.goal ? ("<= " + number(*figure.goal)).c_str() : "",
                line.met ? (*line.met ? "yes" : "NO") : "");
  }
}

json to_json(const std::vector<Line>& lines) {
  const auto or_null = [](const auto& value) { return value ? json(*value) : json(); };
  json list = json::array();
  for (const Line& line : lines) {
    const Figure& figure = line.figure;
    list.push_back({{"name", figure.name},
                    {"value", line.value},
                    {"unit", figure.unit},
                    {"peer", figure.peer.empty() ? json() : json(figure.peer)},
                    {"ratio", or_null(line.ratio)},
                    {"goal", or_null(figure.goal)},
                    {"met", or_null(line.met)}});
  }
  return list;
}

void run(const std::vector<std::string>& arguments) {
  std::string json_file;
  Results results;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--json") {
      json_file = arguments.at(++i);
    } else {
      read_results(arguments[i], results);
    }
  }
  std::vector<Line> lines;
  for (const Figure& figure : all_figures(results)) lines.push_back(evaluate(results, figure));
  print(lines);
  if (json_file.empty()) return;
  std::ofstream output(json_file);
  output << to_json(lines).dump(2) << '\n';
  if (!output.flush()) throw std::runtime_error("can not write " + json_file);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(std::vector<std::string>(argv + 1, argv + argc));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_report: " << error.what() << '\n';
    return 1;
  }
}
