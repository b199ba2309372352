#pragma once

#include <ringshard/log.hpp>
#include <string>
#include <string_view>

namespace ringshard::log {

/// True if a message of this level would go anywhere: ask before building an expensive one.
bool enabled(LogLevel level) noexcept;

void write(LogLevel level, std::string_view message) noexcept;

inline void debug(std::string_view message) noexcept { write(LogLevel::debug, message); }
inline void info(std::string_view message) noexcept { write(LogLevel::info, message); }
inline void warning(std::string_view message) noexcept { write(LogLevel::warning, message); }
inline void error(std::string_view message) noexcept { write(LogLevel::error, message); }

}  // namespace ringshard::log
