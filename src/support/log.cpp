#include "support/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

namespace ringshard {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

LogSink make_default_sink() {
  // A logger that the host registered under this name is used as it is.
  auto logger = spdlog::get("ringshard");
  if (!logger) {
    logger = std::make_shared<spdlog::logger>(
        "ringshard", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    logger->set_level(spdlog::level::debug);
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ ringshard: %v");
  }
  return [logger](LogLevel level, std::string_view message) {
    logger->log(to_spdlog(level), "{}", message);
  };
}

struct SinkHolder {
  std::mutex mutex;
  std::shared_ptr<const LogSink> sink;  // guarded by mutex; called outside of it
};

SinkHolder& holder() {
  static SinkHolder instance{{}, std::make_shared<const LogSink>(make_default_sink())};
  return instance;
}

std::atomic<LogLevel> minimum{LogLevel::info};

}  // namespace

void set_log_sink(LogSink sink) {
  auto shared = std::make_shared<const LogSink>(std::move(sink));
  std::lock_guard lock(holder().mutex);
  holder().sink = std::move(shared);
}

void set_log_level(LogLevel level) noexcept { minimum.store(level, std::memory_order_relaxed); }

namespace log {

bool enabled(LogLevel level) noexcept { return level >= minimum.load(std::memory_order_relaxed); }

void write(LogLevel level, std::string_view message) noexcept {
  if (!enabled(level)) return;
  try {
    std::shared_ptr<const LogSink> sink;
    {
      std::lock_guard lock(holder().mutex);
      sink = holder().sink;
    }
    if (*sink) (*sink)(level, message);
  } catch (...) {
    // A log that can not be written must not stop the work that it describes.
  }
}

}  // namespace log
}  // namespace ringshard
