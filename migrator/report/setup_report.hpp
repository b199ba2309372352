#pragma once

#include <iosfwd>
#include <ringshard/config.hpp>

#include "migrator/report/format.hpp"
#include "setup/setup.hpp"

namespace ringshard::cli {

void print_text(std::ostream& out, const InitReport& report, const KeyspaceConfig& keyspace);
Json to_json(const InitReport& report, const KeyspaceConfig& keyspace);

void print_text(std::ostream& out, const ImportReport& report, const KeyspaceConfig& keyspace);
Json to_json(const ImportReport& report, const KeyspaceConfig& keyspace);

}  // namespace ringshard::cli
