#pragma once

#include <cstdint>

#include "backend/row_batch.hpp"
#include "mover/home_pair.hpp"
#include "mover/options.hpp"

namespace ringshard {

struct BackfillStep {
  std::int64_t rows = 0;
  bool table_complete = false;
};

/// Copies the rows that existed before capture began, in primary-key order, a chunk at a time.
class Backfill {
 public:
  Backfill(HomePair& pair, const MoveOptions& options) : pair_(pair), options_(options) {}

  /// Expects capture to be on since before the table's first chunk. Copies the chunk after the
  /// stored checkpoint and stores the next one with it. A row that the mirror has already, it has
  /// as new or newer: it is left alone. A row that was changed or deleted between this chunk's read
  /// and its insert is put right by the tailer, which must not run at the same time.
  BackfillStep copy_chunk(const Table& table);

 private:
  HomePair& pair_;
  const MoveOptions& options_;
  RowBatch batch_;
};

}  // namespace ringshard
