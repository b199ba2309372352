#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "migrator/doctor/examination.hpp"

namespace ringshard::cli {

struct DoctorReport {
  std::string keyspace;
  Examination examination;      ///< the last one
  std::vector<Finding> mended;  ///< by this run

  bool clean() const noexcept { return examination.findings.empty(); }
};

void print_text(std::ostream& out, const DoctorReport& report);
void print_json(std::ostream& out, const DoctorReport& report);

}  // namespace ringshard::cli
