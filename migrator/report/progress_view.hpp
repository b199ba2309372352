#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/records.hpp"
#include "migrator/progress.hpp"
#include "mover/mover.hpp"
#include "support/clock.hpp"

namespace ringshard::cli {

struct ProgressStyle {
  bool terminal = false;  ///< one line, drawn again and again, with a bar; otherwise lines
  bool color = false;
  bool quiet = false;         ///< nothing at all
  std::size_t columns = 100;  ///< of the terminal
};

/// Shows how far a long job is. On a terminal: a bar with rate and time to go. Into a pipe: a line
/// for each change of a stage, and at most one a second in between. Thread-safe.
class ProgressView final : public Progress {
 public:
  ProgressView(std::ostream& err, Clock& clock, ProgressStyle style);
  /// Leaves a terminal with an empty line.
  ~ProgressView() override;

  // --- a job of setup
  void report(std::string_view stage, std::int64_t done, std::int64_t total,
              std::string_view unit) override;

  // --- moves
  /// Says which moves there will be; what their estimates add up to is the whole.
  void begin_moves(const std::vector<MoveRecord>& moves);
  void stage_stored(const MoveRecord& move);
  void rows_done(const MoveRecord& move, std::int64_t rows);
  void move_ended(const MoveRecord& move, std::string_view error);

  /// A line that stays.
  void say(const std::string& line);

 private:
  /// A move is copied and compared, so each of its rows counts twice.
  struct MoveState {
    std::int64_t rows_expected = 0;
    std::int64_t copied = 0;
    std::int64_t compared = 0;
    bool ended = false;
  };

  void draw(std::int64_t done, std::int64_t total, std::string_view unit, const std::string& detail,
            bool even_if_early);
  void draw_moves(const std::string& detail);
  void write_line(const std::string& line);

  // constant after construction
  std::ostream& err_;
  Clock& clock_;
  const ProgressStyle style_;

  // guarded by mutex_
  std::mutex mutex_;
  std::string stage_;
  TimePoint stage_began_;
  std::int64_t stage_began_at_ = 0;
  TimePoint drawn_;
  bool line_is_drawn_ = false;
  std::map<std::string, MoveState> moves_;
};

/// Hands to a view what one mover says.
class ObserverForView final : public MoveObserver {
 public:
  explicit ObserverForView(ProgressView& view) : view_(view) {}
  void stage_stored(const MoveRecord& move) override { view_.stage_stored(move); }
  void progress(const MoveRecord& move, std::int64_t rows) override { view_.rows_done(move, rows); }
  void verified(const MoveRecord& move, const VerifyReport& report) override {
    static_cast<void>(move);
    last_report_ = report;
  }

  /// What the verifier of the last move found; reset by begin().
  const VerifyReport& last_report() const noexcept { return last_report_; }
  void begin() { last_report_ = {}; }

 private:
  ProgressView& view_;
  VerifyReport last_report_;
};

}  // namespace ringshard::cli
