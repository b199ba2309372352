#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <ringshard/error.hpp>

#include "catalog/records.hpp"
#include "mover/verifier.hpp"

// For the reports alone: whoever includes this takes seconds longer to compile.

namespace ringshard::cli {

/// Keys keep the order in which they were put in.
using Json = nlohmann::ordered_json;

Json to_json(const Error& error);
Json to_json(const MoveRecord& move);
Json to_json(const Difference& difference);

/// Two spaces of indentation and a line's end. Text that is not UTF-8 is shown with replacement
/// characters.
void print(std::ostream& out, const Json& json);

}  // namespace ringshard::cli
