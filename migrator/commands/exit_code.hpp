#pragma once

#include <ringshard/error.hpp>

namespace ringshard::cli {

// What the program ends with; part of its interface.
inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_differs = 3;  ///< differences found, or an outcome that is not known
inline constexpr int exit_try_again = 75;

/// The exit code that says what to do about an error.
int exit_code_of(const Error& error) noexcept;

/// The worse of two: differences, then failed, then usage, then try again, then done.
int worse_of(int left, int right) noexcept;

}  // namespace ringshard::cli
