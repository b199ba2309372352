#include "migrator/commands/exit_code.hpp"

namespace ringshard::cli {
namespace {

int badness(int exit_code) noexcept {
  switch (exit_code) {
    case exit_done:
      return 0;
    case exit_try_again:
      return 1;
    case exit_usage:
      return 2;
    case exit_failed:
      return 3;
    case exit_differs:
      return 4;
    default:
      return 5;
  }
}

}  // namespace

int exit_code_of(const Error& error) noexcept {
  if (error.retryable()) return exit_try_again;
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::config:
      return exit_usage;
    case ErrorCode::differs:
    case ErrorCode::outcome_unknown:
      return exit_differs;
    case ErrorCode::cancelled:
      // Nothing is wrong: `resume` goes on.
      return exit_try_again;
    default:
      return exit_failed;
  }
}

int worse_of(int left, int right) noexcept {
  return badness(left) >= badness(right) ? left : right;
}

}  // namespace ringshard::cli
