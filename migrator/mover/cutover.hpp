#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mover/home_pair.hpp"
#include "mover/options.hpp"
#include "mover/tailer.hpp"
#include "mover/verifier.hpp"

namespace ringshard {

enum class CutoverResult : std::uint8_t {
  decided,      ///< ownership has changed hands
  try_again,    ///< the lock was not had or the budget ran out; nothing has changed
  differences,  ///< a row that changed is not the same on both sides; nothing has changed
};

struct CutoverAttempt {
  CutoverResult result = CutoverResult::try_again;
  std::string reason;         ///< why not; empty if decided
  std::int64_t pause_us = 0;  ///< how long writers were held
  std::int64_t changes_applied = 0;
  std::vector<Difference> samples;
};

/// Hands a shard from the owner of a leg to its mirror: certified, and within a budget.
class Cutover {
 public:
  /// `between` is called between two steps outside of the lock, and may throw to stop.
  Cutover(HomePair& pair, Tailer& tailer, Verifier& verifier, const MoveOptions& options,
          std::function<void()> between)
      : pair_(pair),
        tailer_(tailer),
        verifier_(verifier),
        options_(options),
        between_(std::move(between)) {}

  /// Expects every row changed by seqs up to `verified_seq` to have been compared. Compares those
  /// changed since, outside of any lock, and again those changed meanwhile, until few are left.
  /// Returns the seq up to which all is compared now. `report` receives what was found.
  std::int64_t certify(const std::vector<Table>& tables, std::int64_t verified_seq,
                       VerifyReport& report);

  /// One attempt. Expects what certify() left. Up to the commit at the owner nothing has changed
  /// and every failure releases the lock; that commit is the cutover; after it this can only go
  /// forward, by whoever comes by.
  CutoverAttempt attempt(const std::vector<Table>& tables, std::int64_t verified_seq);

 private:
  struct Changed {
    const Table* table;
    std::vector<Row> keys;
  };

  std::int64_t drain(OwnerTransaction& owner, const std::string& certificate, Deadline deadline);
  std::vector<Changed> changed_since(const std::vector<Table>& tables, std::int64_t seq);
  std::vector<Difference> compare(OwnerTransaction& owner, const std::vector<Changed>& changed,
                                  Deadline deadline);

  HomePair& pair_;
  Tailer& tailer_;
  Verifier& verifier_;
  const MoveOptions& options_;
  std::function<void()> between_;
};

/// The record of this leg's owner if it has handed over already: then it says mirror of the next
/// leg.
std::optional<HomeRecord> decided_handover(HomePair& pair);

/// Tells the new owner of a decided handover, if nobody has yet: the part of a cutover that anybody
/// may finish, any number of times. Error{refused} if its home is not the copy that was certified.
void promote_new_owner(HomePair& pair, const HomeRecord& decided, const MoveOptions& options);

}  // namespace ringshard
