#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <ringshard/ids.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "migrator/doctor/reference.hpp"
#include "mover/verifier.hpp"

namespace ringshard::cli {

/// Something that is not as it must be.
struct VerifyProblem {
  std::optional<ShardId> shard;
  std::string node;
  std::string text;
  bool repaired = false;
};

/// "Wrong" and "could not be checked" are different results, and nothing checked is neither right
/// nor wrong.
enum class Verdict : std::uint8_t { verified, differences, could_not_check, nothing_checked };

std::string_view to_string(Verdict verdict) noexcept;

struct FleetVerifyReport {
  std::string keyspace;
  std::string scope;  ///< "all shards", "shard 17", "a sample of …", as a sentence part
  std::optional<std::uint64_t> seed;
  std::int64_t shards_checked = 0;
  std::int64_t shards_empty = 0;  ///< of these: homes without a row
  std::int64_t shards_total = 0;
  std::int64_t rows = 0;                 ///< read, with their keys checked
  std::map<std::string, Digest> tables;  ///< all shards together
  std::int64_t pairs_compared = 0;       ///< shards whose two homes were compared row by row
  VerifyReport pairs;                    ///< what that gave
  ReferenceReport reference;
  std::vector<VerifyProblem> problems;
  std::vector<std::string> unchecked;  ///< what could not be checked, and why
  std::vector<std::string> notes;

  Verdict verdict() const noexcept;
  int exit_code() const noexcept;
};

void print_text(std::ostream& out, const FleetVerifyReport& report);
void print_json(std::ostream& out, const FleetVerifyReport& report);

}  // namespace ringshard::cli
