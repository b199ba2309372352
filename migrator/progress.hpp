#pragma once

#include <cstdint>
#include <string_view>

namespace ringshard {

/// Where a long job says how far it is. May be called from several threads at once and very often: whoever shows it
/// decides what to show and how often.
///
///     progress.report("copy shop_12", rows_copied, rows_estimated, "rows");
class Progress {
 public:
  virtual ~Progress() = default;

  /// `stage` names what is being done and stays the same until that is finished, which is when `done` equals `total`. A
  /// total of 0 or less is not known. `unit` is a plural: "rows", "homes", "changes". Must not throw.
  virtual void report(std::string_view stage, std::int64_t done, std::int64_t total,
                      std::string_view unit) = 0;
};

/// For callers that nobody watches.
class NoProgress final : public Progress {
 public:
  void report(std::string_view /*stage*/, std::int64_t /*done*/, std::int64_t /*total*/,
              std::string_view /*unit*/) override {}
};

}  // namespace ringshard
