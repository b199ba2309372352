#pragma once

#include <functional>
#include <string_view>

namespace ringshard {

enum class LogLevel { debug, info, warning, error };

/// Receives every message that ringshard logs. May be called from any thread, several at once; must
/// not throw and must not call back into ringshard.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// Replaces where log messages go. The default is spdlog's default logger of this process, written
/// to under the name "ringshard" on standard error. An empty sink silences the library.
/// Thread-safe.
///
///     ringshard::set_log_sink([](ringshard::LogLevel level, std::string_view message) {
///     my_log(level, message); });
void set_log_sink(LogSink sink);

/// Messages below this level are not made. Default: info. Thread-safe.
void set_log_level(LogLevel level) noexcept;

}  // namespace ringshard
