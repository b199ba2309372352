#pragma once

#include <cstddef>

namespace ringshard::testing {

/// ThreadSanitizer watches every access to memory, and makes what moves much of it take minutes.
#ifdef __SANITIZE_THREAD__
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// "A large value": 64 MB, as large as a row of an application gets.
inline constexpr std::size_t large_value_bytes = std::size_t{under_thread_sanitizer ? 2U : 64U}
                                                 << 20U;

}  // namespace ringshard::testing
