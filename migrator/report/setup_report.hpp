#pragma once

#include <iosfwd>
#include <ringshard/config.hpp>

#include "setup/setup.hpp"

namespace ringshard::cli {

void print_text(std::ostream& out, const InitReport& report, const KeyspaceConfig& keyspace);
void print_json(std::ostream& out, const InitReport& report, const KeyspaceConfig& keyspace);

void print_text(std::ostream& out, const ImportReport& report, const KeyspaceConfig& keyspace);
void print_json(std::ostream& out, const ImportReport& report, const KeyspaceConfig& keyspace);

}  // namespace ringshard::cli
