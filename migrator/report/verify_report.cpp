#include "migrator/report/verify_report.hpp"

#include <algorithm>
#include <ostream>
#include <ringshard/config.hpp>

#include "migrator/commands/exit_code.hpp"
#include "migrator/report/format.hpp"
#include "migrator/report/json.hpp"
#include "migrator/report/moves_report.hpp"

namespace ringshard::cli {

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::verified:
      return "verified";
    case Verdict::differences:
      return "differences";
    case Verdict::could_not_check:
      return "could_not_check";
    case Verdict::nothing_checked:
      return "nothing_checked";
  }
  return "unknown";
}

Verdict FleetVerifyReport::verdict() const noexcept {
  const bool wrong =
      std::ranges::any_of(problems, [](const VerifyProblem& problem) { return !problem.repaired; });
  if (wrong) return Verdict::differences;
  if (!unchecked.empty()) return Verdict::could_not_check;
  return rows == 0 ? Verdict::nothing_checked : Verdict::verified;
}

int FleetVerifyReport::exit_code() const noexcept {
  switch (verdict()) {
    case Verdict::verified:
      return exit_done;
    case Verdict::differences:
    case Verdict::nothing_checked:
      return exit_differs;
    case Verdict::could_not_check:
      return exit_try_again;
  }
  return exit_failed;
}

void print_text(std::ostream& out, const FleetVerifyReport& report) {
  out << "checked " << report.scope << " of keyspace " << report.keyspace;
  if (report.seed) out << " (seed " << *report.seed << ")";
  out << '\n';
  TextTable table({"table", "rows", "checksum"});
  table.numbers({1});
  for (const auto& [name, digest] : report.tables)
    table.add({name, std::to_string(digest.rows), digest.rows == 0 ? "-" : checksum_text(digest)});
  table.print(out);
  out << count_text(report.shards_checked, "home", "homes") << " read, " << report.shards_empty
      << " of them without a row; " << count_text(report.rows, "row", "rows")
      << " read and their keys checked\n";
  if (report.pairs_compared > 0)
    out << count_text(report.pairs_compared, "shard", "shards")
        << " in a move: both homes compared, " << count_text(report.pairs.rows, "row", "rows")
        << '\n';
  if (report.reference.expected)
    out << "reference tables: " << report.reference.tables << " on "
        << count_text(report.reference.nodes, "node", "nodes") << ", "
        << count_text(report.reference.rows, "row", "rows") << " each\n";
  for (const VerifyProblem& problem : report.problems)
    out << (problem.repaired ? "repaired: " : "difference: ") << redact(problem.text) << '\n';
  for (const std::string& text : report.unchecked) out << "not checked: " << redact(text) << '\n';
  for (const std::string& note : report.notes) out << "note: " << redact(note) << '\n';
  switch (report.verdict()) {
    case Verdict::verified:
      out << "verified\n";
      break;
    case Verdict::differences:
      out << "differences were found\n";
      break;
    case Verdict::could_not_check:
      out << "not everything could be checked\n";
      break;
    case Verdict::nothing_checked:
      out << "zero rows were checked: this proves nothing\n";
      break;
  }
}

void print_json(std::ostream& out, const FleetVerifyReport& report) {
  Json json = {{"keyspace", report.keyspace},
               {"verdict", to_string(report.verdict())},
               {"scope", report.scope},
               {"seed", report.seed ? Json(*report.seed) : Json()},
               {"shards", report.shards_checked},
               {"shards_empty", report.shards_empty},
               {"shards_total", report.shards_total},
               {"rows", report.rows},
               {"tables", Json::array()},
               {"moves",
                {{"compared", report.pairs_compared},
                 {"rows", report.pairs.rows},
                 {"differences", report.pairs.differences},
                 {"repaired", report.pairs.repaired},
                 {"samples", Json::array()}}},
               {"reference",
                {{"tables", report.reference.tables},
                 {"nodes", report.reference.nodes},
                 {"rows", report.reference.rows}}},
               {"differences", Json::array()},
               {"unchecked", Json::array()},
               {"notes", report.notes}};
  for (const auto& [name, digest] : report.tables)
    json["tables"].push_back(
        {{"name", name}, {"rows", digest.rows}, {"checksum", checksum_text(digest)}});
  for (const Difference& difference : report.pairs.samples)
    json["moves"]["samples"].push_back(to_json(difference));
  for (const VerifyProblem& problem : report.problems)
    json["differences"].push_back({{"shard", problem.shard ? Json(problem.shard->value) : Json()},
                                   {"node", problem.node.empty() ? Json() : Json(problem.node)},
                                   {"text", redact(problem.text)},
                                   {"repaired", problem.repaired}});
  for (const std::string& text : report.unchecked) json["unchecked"].push_back(redact(text));
  print(out, json);
}

}  // namespace ringshard::cli
