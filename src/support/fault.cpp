#include "support/fault.hpp"

#include <signal.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <ringshard/error.hpp>
#include <utility>

namespace ringshard {
namespace {

struct NamedPoint {
  FaultPoint point;
  std::string_view name;
};

constexpr std::array named_points{
    NamedPoint{FaultPoint::before_mirroring, "before_mirroring"},
    NamedPoint{FaultPoint::after_mirroring, "after_mirroring"},
    NamedPoint{FaultPoint::before_backfilling, "before_backfilling"},
    NamedPoint{FaultPoint::after_backfilling, "after_backfilling"},
    NamedPoint{FaultPoint::before_verifying, "before_verifying"},
    NamedPoint{FaultPoint::after_verifying, "after_verifying"},
    NamedPoint{FaultPoint::before_ready, "before_ready"},
    NamedPoint{FaultPoint::after_ready, "after_ready"},
    NamedPoint{FaultPoint::before_cut_over, "before_cut_over"},
    NamedPoint{FaultPoint::after_cut_over, "after_cut_over"},
    NamedPoint{FaultPoint::before_observing, "before_observing"},
    NamedPoint{FaultPoint::after_observing, "after_observing"},
    NamedPoint{FaultPoint::before_cleaning, "before_cleaning"},
    NamedPoint{FaultPoint::after_cleaning, "after_cleaning"},
    NamedPoint{FaultPoint::before_done, "before_done"},
    NamedPoint{FaultPoint::after_done, "after_done"},
    NamedPoint{FaultPoint::before_reverting, "before_reverting"},
    NamedPoint{FaultPoint::after_reverting, "after_reverting"},
    NamedPoint{FaultPoint::before_reverted, "before_reverted"},
    NamedPoint{FaultPoint::after_reverted, "after_reverted"},
    NamedPoint{FaultPoint::before_rolling_back, "before_rolling_back"},
    NamedPoint{FaultPoint::after_rolling_back, "after_rolling_back"},
    NamedPoint{FaultPoint::before_rolled_back, "before_rolled_back"},
    NamedPoint{FaultPoint::after_rolled_back, "after_rolled_back"},
    NamedPoint{FaultPoint::target_created, "target_created"},
    NamedPoint{FaultPoint::capture_installed, "capture_installed"},
    NamedPoint{FaultPoint::backfill_chunk_read, "backfill_chunk_read"},
    NamedPoint{FaultPoint::backfill_chunk_written, "backfill_chunk_written"},
    NamedPoint{FaultPoint::tail_read, "tail_read"},
    NamedPoint{FaultPoint::tail_applied, "tail_applied"},
    NamedPoint{FaultPoint::tail_erased, "tail_erased"},
    NamedPoint{FaultPoint::owner_locked, "owner_locked"},
    NamedPoint{FaultPoint::mirror_locked, "mirror_locked"},
    NamedPoint{FaultPoint::verify_chunk_compared, "verify_chunk_compared"},
    NamedPoint{FaultPoint::cutover_locked, "cutover_locked"},
    NamedPoint{FaultPoint::cutover_drained, "cutover_drained"},
    NamedPoint{FaultPoint::cutover_compared, "cutover_compared"},
    NamedPoint{FaultPoint::cutover_decided, "cutover_decided"},
    NamedPoint{FaultPoint::cutover_promoted, "cutover_promoted"},
    NamedPoint{FaultPoint::placement_stored, "placement_stored"},
    NamedPoint{FaultPoint::capture_shrunk, "capture_shrunk"},
    NamedPoint{FaultPoint::capture_removed, "capture_removed"},
    NamedPoint{FaultPoint::home_dropped, "home_dropped"},
    NamedPoint{FaultPoint::write_locked, "write_locked"},
    NamedPoint{FaultPoint::write_committed, "write_committed"},
    NamedPoint{FaultPoint::write_mirrored, "write_mirrored"},
};

constexpr auto points = [] {
  std::array<FaultPoint, named_points.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = named_points[i].point;
  return all;
}();

std::atomic<bool> armed{false};
std::mutex handler_mutex;
std::shared_ptr<const fault::Handler> current_handler;  // guarded by handler_mutex

/// "before_" or "after_" and the stage's name.
std::optional<FaultPoint> around(std::string_view prefix, MoveStage stage) noexcept {
  const std::string_view name = to_string(stage);
  for (const NamedPoint& candidate : named_points)
    if (candidate.name.starts_with(prefix) && candidate.name.substr(prefix.size()) == name)
      return candidate.point;
  return std::nullopt;
}

}  // namespace

std::span<const FaultPoint> all_fault_points() noexcept { return points; }

std::string_view to_string(FaultPoint point) noexcept {
  return named_points[static_cast<std::size_t>(point)].name;
}

std::optional<FaultPoint> parse_fault_point(std::string_view name) noexcept {
  for (const NamedPoint& candidate : named_points)
    if (candidate.name == name) return candidate.point;
  return std::nullopt;
}

std::optional<FaultPoint> before(MoveStage stage) noexcept { return around("before_", stage); }
std::optional<FaultPoint> after(MoveStage stage) noexcept { return around("after_", stage); }

namespace fault {

void hit(FaultPoint point) {
  if (!armed.load(std::memory_order_relaxed)) return;
  std::shared_ptr<const Handler> handler;
  {
    std::lock_guard lock(handler_mutex);
    handler = current_handler;
  }
  if (handler && *handler) (*handler)(point);
}

void set_handler(Handler handler) {
  std::lock_guard lock(handler_mutex);
  armed.store(static_cast<bool>(handler), std::memory_order_relaxed);
  current_handler = std::make_shared<const Handler>(std::move(handler));
}

void arm_from_environment() {
  const char* text = std::getenv("RINGSHARD_FAULT");
  if (text == nullptr || *text == '\0') return;
  const std::string_view setting = text;
  const auto fail = [&] {
    throw Error(ErrorCode::invalid_argument,
                "RINGSHARD_FAULT=" + std::string(setting) +
                    ": expected <point>[@n]=kill|stop|fail with one of the known points");
  };
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) fail();
  const std::string_view action = setting.substr(equals + 1);
  if (action != "kill" && action != "stop" && action != "fail") fail();
  std::string_view name = setting.substr(0, equals);
  int at = 1;
  if (const std::size_t sign = name.find('@'); sign != std::string_view::npos) {
    const std::string_view digits = name.substr(sign + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), at);
    if (error != std::errc() || end != digits.data() + digits.size() || at < 1) fail();
    name = name.substr(0, sign);
  }
  const std::optional<FaultPoint> point = parse_fault_point(name);
  if (!point) fail();
  auto seen = std::make_shared<std::atomic<int>>(0);
  set_handler([point = *point, at, seen, action = std::string(action)](FaultPoint reached) {
    if (reached != point || ++*seen != at) return;
    // To this thread: a signal to the process may stop another one first, and this one runs on.
    if (action == "kill") ::raise(SIGKILL);
    if (action == "stop") ::raise(SIGSTOP);
    if (action == "fail")
      throw Error(ErrorCode::unavailable,
                  "a failure was asked for at " + std::string(to_string(reached)));
  });
}

}  // namespace fault
}  // namespace ringshard
