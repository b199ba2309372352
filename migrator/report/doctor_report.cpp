#include "migrator/report/doctor_report.hpp"

#include <ostream>
#include <ringshard/config.hpp>

#include "migrator/report/format.hpp"
#include "migrator/report/json.hpp"

namespace ringshard::cli {
namespace {

Json to_json(const Finding& finding) {
  return {{"kind", to_string(finding.kind)},
          {"shard", finding.shard ? Json(finding.shard->value) : Json()},
          {"node", finding.node.empty() ? Json() : Json(finding.node)},
          {"move", finding.move_id.empty() ? Json() : Json(finding.move_id)},
          {"text", redact(finding.text)},
          {"command", finding.command},
          {"mendable", static_cast<bool>(finding.mend)},
          {"mended", finding.mended},
          {"failure", finding.failure.empty() ? Json() : Json(redact(finding.failure))}};
}

}  // namespace

void print_text(std::ostream& out, const DoctorReport& report) {
  for (const Finding& finding : report.mended)
    out << "mended: " << to_string(finding.kind) << ": " << redact(finding.text) << '\n';
  for (const Finding& finding : report.examination.findings) {
    out << to_string(finding.kind) << ": " << redact(finding.text) << '\n';
    if (!finding.failure.empty())
      out << "  could not be mended: " << redact(finding.failure) << '\n';
    out << "  mend it with: " << finding.command << '\n';
  }
  for (const std::string& note : report.examination.notes) out << "note: " << note << '\n';
  out << "looked at " << count_text(report.examination.homes, "home", "homes") << ", "
      << count_text(report.examination.rows, "row", "rows") << ", "
      << count_text(report.examination.moves, "unfinished move", "unfinished moves") << '\n';
  if (report.clean())
    out << "clean\n";
  else
    out << count_text(std::ssize(report.examination.findings), "finding", "findings") << '\n';
}

void print_json(std::ostream& out, const DoctorReport& report) {
  Json json = {{"keyspace", report.keyspace},       {"clean", report.clean()},
               {"homes", report.examination.homes}, {"rows", report.examination.rows},
               {"moves", report.examination.moves}, {"notes", report.examination.notes},
               {"findings", Json::array()},         {"mended", Json::array()}};
  for (const Finding& finding : report.examination.findings)
    json["findings"].push_back(to_json(finding));
  for (const Finding& finding : report.mended) json["mended"].push_back(to_json(finding));
  print(out, json);
}

}  // namespace ringshard::cli
