#include "migrator/report/setup_report.hpp"

#include <ostream>

#include "migrator/report/format.hpp"
#include "migrator/report/json.hpp"

namespace ringshard::cli {

void print_text(std::ostream& out, const InitReport& report, const KeyspaceConfig& keyspace) {
  out << "keyspace " << keyspace.name << ": " << count_text(keyspace.shards, "shard", "shards")
      << " on " << count_text(report.nodes, "node", "nodes");
  if (report.state == KeyspaceState::ready)
    out << ", " << count_text(report.homes, "home", "homes") << " with "
        << count_text(report.tables, "table", "tables") << " each; ready\n";
  else
    out << "; no homes yet: `ringshard import --from sqlite:FILE` makes and fills them\n";
}

void print_json(std::ostream& out, const InitReport& report, const KeyspaceConfig& keyspace) {
  print(out, {{"keyspace", keyspace.name},
              {"state", ringshard::to_string(report.state)},
              {"shards", keyspace.shards},
              {"nodes", report.nodes},
              {"homes", report.homes},
              {"tables", report.tables}});
}

void print_text(std::ostream& out, const ImportReport& report, const KeyspaceConfig& keyspace) {
  TextTable table({"table", "kind", "rows", "checksum"});
  table.numbers({2});
  for (const ImportedTable& imported : report.tables)
    table.add({imported.name, imported.kind, std::to_string(imported.digest.rows),
               checksum_text(imported.digest)});
  table.print(out);
  for (const std::string& note : report.notes) out << "note: " << note << '\n';
  out << "keyspace " << keyspace.name << ": " << count_text(report.rows, "row", "rows") << " in "
      << count_text(report.homes, "home", "homes")
      << ", read back and equal to what was in the source\n";
}

void print_json(std::ostream& out, const ImportReport& report, const KeyspaceConfig& keyspace) {
  Json json = {{"keyspace", keyspace.name}, {"rows", report.rows},   {"homes", report.homes},
               {"seconds", report.seconds}, {"notes", report.notes}, {"tables", Json::array()}};
  for (const ImportedTable& imported : report.tables)
    json["tables"].push_back({{"name", imported.name},
                              {"kind", imported.kind},
                              {"rows", imported.digest.rows},
                              {"checksum", checksum_text(imported.digest)},
                              {"seconds", imported.seconds}});
  print(out, json);
}

}  // namespace ringshard::cli
