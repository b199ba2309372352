#include "migrator/report/progress_view.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>

#include "migrator/report/format.hpp"

namespace ringshard::cli {
namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr auto line_interval = std::chrono::seconds(1);
constexpr const char* clear_line = "\r\033[K";
constexpr std::size_t bar_width = 24;

std::string bar(double share, bool color) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * bar_width);
  std::string text = "[";
  if (color) text += "\033[32m";
  text += std::string(full, '#');
  if (color) text += "\033[0m";
  return text + std::string(bar_width - full, '-') + "]";
}

std::string name_of(const MoveRecord& move) {
  return "shard " + std::to_string(move.shard.value) + " (" + move.source + " to " + move.target +
         ")";
}

}  // namespace

ProgressView::ProgressView(std::ostream& err, Clock& clock, ProgressStyle style)
    : err_(err), clock_(clock), style_(style), stage_began_(clock.now()), drawn_(stage_began_) {}

ProgressView::~ProgressView() {
  if (line_is_drawn_) err_ << clear_line << std::flush;
}

void ProgressView::report(std::string_view stage, std::int64_t done, std::int64_t total,
                          std::string_view unit) {
  if (style_.quiet) return;
  const std::lock_guard lock(mutex_);
  const bool is_new = stage != stage_;
  if (is_new) {
    stage_ = stage;
    stage_began_ = clock_.now();
    stage_began_at_ = done;
  }
  draw(done, total, unit, stage_, is_new || (total > 0 && done >= total));
}

void ProgressView::begin_moves(const std::vector<MoveRecord>& moves) {
  const std::lock_guard lock(mutex_);
  for (const MoveRecord& move : moves) {
    MoveState& state = moves_[move.id];
    state.rows_expected = std::max(move.rows_estimated, move.rows_copied);
    // What earlier runs did is no work of this one.
    if (move.stage > MoveStage::backfilling) state.copied = state.rows_expected;
    if (move.stage > MoveStage::verifying) state.compared = state.rows_expected;
    stage_began_at_ += state.copied + state.compared;
  }
  stage_began_ = clock_.now();
}

void ProgressView::stage_stored(const MoveRecord& move) {
  if (style_.quiet) return;
  const std::lock_guard lock(mutex_);
  MoveState& state = moves_[move.id];
  if (move.stage == MoveStage::verifying) {
    state.rows_expected = std::max(move.rows_copied, state.copied);
    state.copied = state.rows_expected;
  }
  if (move.stage == MoveStage::ready || is_final(move.stage)) state.compared = state.rows_expected;
  const std::string text = name_of(move) + ": " + std::string(to_string(move.stage));
  if (!style_.terminal) return write_line(text);
  draw_moves(text);
}

void ProgressView::rows_done(const MoveRecord& move, std::int64_t rows) {
  if (style_.quiet) return;
  const std::lock_guard lock(mutex_);
  MoveState& state = moves_[move.id];
  if (move.stage <= MoveStage::backfilling)
    state.copied = rows;
  else
    state.compared = rows;
  state.rows_expected = std::max(state.rows_expected, rows);
  draw_moves(name_of(move) + ": " + std::string(to_string(move.stage)));
}

void ProgressView::move_ended(const MoveRecord& move, std::string_view error) {
  if (style_.quiet) return;
  const std::lock_guard lock(mutex_);
  moves_[move.id].ended = true;
  if (!error.empty())
    write_line(name_of(move) + ": stopped in stage " + std::string(to_string(move.stage)) + ": " +
               std::string(error));
}

void ProgressView::say(const std::string& line) {
  if (style_.quiet) return;
  const std::lock_guard lock(mutex_);
  write_line(line);
}

void ProgressView::draw_moves(const std::string& detail) {
  std::int64_t done = 0;
  std::int64_t total = 0;
  std::int64_t ended = 0;
  for (const auto& [id, state] : moves_) {
    done += std::min(state.copied + state.compared, 2 * state.rows_expected);
    total += 2 * state.rows_expected;
    ended += state.ended ? 1 : 0;
  }
  draw(done, total, "rows copied and compared",
       std::to_string(ended) + "/" + std::to_string(moves_.size()) + " moves, " + detail, false);
}

void ProgressView::draw(std::int64_t done, std::int64_t total, std::string_view unit,
                        const std::string& detail, bool even_if_early) {
  const TimePoint now = clock_.now();
  const TimePoint::duration interval =
      style_.terminal ? TimePoint::duration(redraw_interval) : TimePoint::duration(line_interval);
  if (!even_if_early && now - drawn_ < interval) return;
  drawn_ = now;

  const double seconds = std::chrono::duration<double>(now - stage_began_).count();
  const double rate = seconds > 0.2 ? static_cast<double>(done - stage_began_at_) / seconds : 0;
  std::string figures = std::to_string(done);
  if (total > 0) figures += "/" + std::to_string(total);
  figures += " " + std::string(unit);
  if (rate >= 1) {
    figures += ", " + std::to_string(static_cast<std::int64_t>(rate)) + "/s";
    if (total > done)
      figures += ", " +
                 duration_text(
                     static_cast<std::int64_t>(static_cast<double>(total - done) / rate * 1000)) +
                 " to go";
  }
  if (!style_.terminal) return write_line(detail + ": " + figures);
  const double share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
  std::string text = " " + percent_text(share) + "  " + figures + "  " + detail;
  // A line that wraps can not be drawn over.
  const std::size_t room = std::max(style_.columns, bar_width + 20) - bar_width - 3;
  if (text.size() > room) text.resize(room);
  err_ << clear_line << bar(share, style_.color) << text << std::flush;
  line_is_drawn_ = true;
}

void ProgressView::write_line(const std::string& line) {
  err_ << ((line_is_drawn_ ? clear_line : "") + line + "\n") << std::flush;
  line_is_drawn_ = false;
}

}  // namespace ringshard::cli
