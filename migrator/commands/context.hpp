#pragma once

#include <atomic>
#include <cstddef>
#include <iosfwd>

#include "support/clock.hpp"

namespace ringshard::cli {

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
  /// Set by SIGINT and SIGTERM: stop between two steps. nullptr: never.
  const std::atomic<bool>* stop = nullptr;

  bool stopped() const noexcept { return stop != nullptr && stop->load(); }
};

}  // namespace ringshard::cli
