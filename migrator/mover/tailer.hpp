#pragma once

#include <cstdint>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "mover/home_pair.hpp"
#include "mover/options.hpp"

namespace ringshard {

/// Applies the owner's change log at the mirror and deletes what it applied.
///
/// Entries are deleted only after the mirror has them durably, so a crash in between means that
/// some are applied again, which newer-wins makes harmless. While rows are being backfilled nobody
/// else deletes entries.
class Tailer {
 public:
  Tailer(HomePair& pair, const MoveOptions& options) : pair_(pair), options_(options) {}

  /// Applies one batch of the oldest entries. Returns how many entries it took; 0: the log was
  /// empty.
  std::int64_t step();

  /// Applies until no entry with a seq up to `seq` is left. `between` is called after each batch
  /// and may throw to stop.
  template <class Between>
  void catch_up(std::int64_t seq, Between&& between) {
    while (lags_behind(seq)) {
      step();
      between();
    }
  }

  /// All entries given out up to now.
  std::int64_t head();

  /// Entries that wait in the log.
  std::int64_t backlog();

  std::int64_t applied_total() const noexcept { return applied_total_; }

 private:
  /// What it took.
  std::vector<Change> apply_oldest(std::int64_t rows_max, std::size_t bytes_max);
  bool lags_behind(std::int64_t seq);

  HomePair& pair_;
  const MoveOptions& options_;
  std::int64_t applied_total_ = 0;
};

/// Reads changes with their rows as the open transaction sees them, up to about `bytes_max` of
/// rows; `changes` is cut to what was read. Error{schema} naming the table while it has a row whose
/// key holds NULL, which can not be applied; Error{schema} if the log gives out numbers that it
/// gave out before.
std::vector<RowChange> read_rows(HomeStore& owner, std::vector<Change>& changes,
                                 std::size_t bytes_max);

bool has_null(const Row& key) noexcept;
Error null_key_error(const std::string& table, const Row& key);

}  // namespace ringshard
