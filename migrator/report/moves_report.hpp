#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "catalog/records.hpp"
#include "mover/verifier.hpp"

namespace ringshard::cli {

/// What became of one move.
struct MoveOutcome {
  MoveRecord move;             ///< as it stands now
  std::optional<Error> error;  ///< why it did not go on
  VerifyReport verified;       ///< of the last comparison; nothing if there was none
};

/// What became of the moves that a command ran or had wishes for.
struct MovesReport {
  std::string command;
  std::string plan_id = {};  ///< empty: not of one plan
  std::vector<MoveOutcome> outcomes = {};
  std::vector<std::string> notes = {};  ///< what else there is to know, as sentences
  std::int64_t elapsed_ms = 0;

  /// The worst of all: differences, failed, try again.
  int exit_code() const noexcept;
};

/// Writers' pauses in the cutovers of some moves, in microseconds.
struct Pauses {
  std::size_t count = 0;
  std::int64_t p50 = 0;
  std::int64_t p99 = 0;
  std::int64_t max = 0;
};

/// Of those moves whose ownership changed hands. Percentiles are values that occurred (nearest
/// rank).
Pauses pauses_of(const std::vector<MoveOutcome>& outcomes);

void print_text(std::ostream& out, const MovesReport& report);
void print_json(std::ostream& out, const MovesReport& report);

}  // namespace ringshard::cli
