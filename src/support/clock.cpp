#include "support/clock.hpp"

#include <thread>

namespace ringshard {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint now() override { return std::chrono::steady_clock::now(); }

  std::int64_t unix_ms() override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  void sleep_for(std::chrono::microseconds duration) override {
    if (duration.count() > 0) std::this_thread::sleep_for(duration);
  }
};

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

std::chrono::microseconds Deadline::left(Clock& clock) const {
  if (!limited()) return std::chrono::microseconds::max();
  const auto left = std::chrono::duration_cast<std::chrono::microseconds>(at_ - clock.now());
  return left.count() > 0 ? left : std::chrono::microseconds(0);
}

}  // namespace ringshard
