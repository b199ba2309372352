#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/row_batch.hpp"
#include "mover/home_pair.hpp"
#include "mover/options.hpp"
#include "mover/tailer.hpp"

namespace ringshard {

/// One row that is not the same on both sides although no change of it is under way.
struct Difference {
  enum class Kind : std::uint8_t {
    missing,
    extra,
    changed
  };  ///< as seen from the owner: what the mirror has

  std::string table;
  Row key;
  Kind kind = Kind::changed;
  std::vector<std::string> columns;  ///< those that differ; only for changed
};

std::string_view to_string(Difference::Kind kind) noexcept;
std::string describe(const Difference& difference);

struct VerifyReport {
  std::int64_t tables = 0;
  std::int64_t empty_tables = 0;  ///< of these nothing was checked but that both sides are empty
  std::int64_t rows = 0;          ///< rows of the owner that were compared
  std::int64_t chunks = 0;
  std::int64_t differences = 0;
  std::int64_t repaired = 0;
  std::vector<Difference> samples;  ///< the first differences

  bool equal() const noexcept { return differences == repaired; }
  VerifyReport& operator+=(const VerifyReport& other);
};

/// Compares the two homes of a leg while both are in use, on behalf of one mover.
///
/// Wrong data and changes under way are told apart like this: the mirror's row is read first, then
/// the owner's row together with the change log in one snapshot. If the log holds no entry for the
/// key, then everything the owner committed to it before that snapshot had been applied when the
/// tailer last emptied the log, so the two rows must be equal.
class Verifier {
 public:
  static constexpr std::size_t samples_max = 20;

  /// `between` is called between two steps and may throw to stop.
  Verifier(HomePair& pair, Tailer& tailer, const MoveOptions& options,
           std::function<void()> between)
      : pair_(pair), tailer_(tailer), options_(options), between_(std::move(between)) {}

  /// Compares all tables, chunk by chunk, with count and checksum computed by each database;
  /// narrows a difference to rows. Follows the change log meanwhile. `progress` is called after
  /// each chunk with what was compared so far.
  VerifyReport compare_tables(const std::vector<Table>& tables,
                              const std::function<void(const VerifyReport&)>& progress);

  /// Compares every row whose newest change in this leg has a seq in (after, through]. One that
  /// changes again meanwhile is left to a later comparison, which begins at `through`: so this ends
  /// however hot a row is.
  VerifyReport compare_changed(const std::vector<Table>& tables, std::int64_t after,
                               std::int64_t through);

  /// How many rows compare_changed would look at, counted up to `limit`.
  std::int64_t count_changed(const std::vector<Table>& tables, std::int64_t seq,
                             std::int64_t limit);

 private:
  enum class Settled : std::uint8_t { equal, different, under_way };

  VerifyReport compare_chunk(const Table& table, const KeyRange& range, std::size_t rows);
  VerifyReport narrow(const Table& table, const KeyRange& range, std::size_t rows);
  void compare_rows(const Table& table, const std::vector<Row>& keys, VerifyReport& report);
  Settled compare_row(const Table& table, const Row& key, std::optional<Difference>& difference);
  void repair(const Table& table, const Row& key);

  HomePair& pair_;
  Tailer& tailer_;
  const MoveOptions& options_;
  std::function<void()> between_;
  RowBatch owner_rows_;
  RowBatch mirror_rows_;
};

/// The difference of two rows that are at hand, if there is one. For the portable form, `table`
/// says what its columns hold.
std::optional<Difference> difference_of(const Table& table, const Row& key,
                                        const std::optional<Row>& owner,
                                        const std::optional<Row>& mirror, RowForm form);

/// A new seq that all changes up to now are at or below, found while no writer is in the middle of
/// a transaction.
std::int64_t quiet_head(HomePair& pair, const MoveOptions& options);

}  // namespace ringshard
