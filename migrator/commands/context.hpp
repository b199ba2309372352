#pragma once

#include <atomic>
#include <cstddef>
#include <iosfwd>

#include "support/clock.hpp"

namespace ringshard::cli {

/// SIGINT and SIGTERM. Whoever can stop between two steps says so (HeedStop) and looks; while
/// nobody does, such a signal ends the process at once, which every command survives.
struct StopSignal {
  std::atomic<bool> requested{false};
  std::atomic<bool> heeded{false};
};

/// The world outside of a command: where it writes, what time it is, and whether it was asked to
/// stop. A test makes its own.
struct Context {
  std::ostream& out;  ///< results
  std::ostream& err;  ///< progress and messages for people
  Clock& clock;
  /// `err` is a terminal: progress is one line that is drawn again and again.
  bool terminal = false;
  bool color = false;
  std::size_t columns = 100;  ///< of the terminal
  /// Where a person answers a question; nullptr: nobody is asked.
  std::istream* answers = nullptr;
  StopSignal* stop = nullptr;  ///< nullptr: nobody asks to stop

  bool stopped() const noexcept { return stop != nullptr && stop->requested.load(); }
};

/// As long as it lives, a signal to stop is something that its owner looks at.
class HeedStop {
 public:
  explicit HeedStop(Context& context) : stop_(context.stop) {
    if (stop_ != nullptr) stop_->heeded = true;
  }
  ~HeedStop() {
    if (stop_ != nullptr) stop_->heeded = false;
  }
  HeedStop(const HeedStop&) = delete;
  HeedStop& operator=(const HeedStop&) = delete;

 private:
  StopSignal* stop_;
};

}  // namespace ringshard::cli
