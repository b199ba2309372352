#include <algorithm>
#include <exception>
#include <ostream>
#include <ringshard/config.hpp>
#include <ringshard/error.hpp>
#include <ringshard/log.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "migrator/report/format.hpp"

namespace ringshard::cli {
namespace {

std::string_view word_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug: ";
    case LogLevel::info:
      return "";
    case LogLevel::warning:
      return "warning: ";
    case LogLevel::error:
      return "error: ";
  }
  return "";
}

void direct_log(const CommonOptions& options, Context& context) {
  set_log_level(options.quiet     ? LogLevel::error
                : options.verbose ? LogLevel::debug
                                  : LogLevel::info);
  // One write for each message, as several threads log; a bar that is being drawn is drawn over.
  set_log_sink([&context](LogLevel level, std::string_view message) {
    context.err << ((context.terminal ? "\r\033[K" : "") + std::string(word_of(level)) +
                    redact(message) + "\n")
                << std::flush;
  });
}

void print_error(const Error& error, bool json, Context& context) {
  if (json)
    print_json(context.out, error);
  else
    context.err << "ringshard: " << redact(error.what()) << '\n';
}

template <class Options>
int run_command(const Options& options, Context& context) {
  direct_log(options.common, context);
  int code = exit_failed;
  try {
    code = run(options, context);
  } catch (const Error& error) {
    print_error(error, options.common.json, context);
    code = exit_code_of(error);
  } catch (const std::exception& exception) {
    print_error(Error(ErrorCode::internal, exception.what()), options.common.json, context);
  }
  set_log_sink({});
  context.out.flush();
  return code;
}

}  // namespace

int run_program(std::span<const std::string> arguments, Context& context) {
  const Command command = parse(arguments);
  return std::visit(
      [&](const auto& options) {
        using Options = std::decay_t<decltype(options)>;
        if constexpr (std::is_same_v<Options, HelpRequest>) {
          context.out << options.text;
          return exit_done;
        } else if constexpr (std::is_same_v<Options, UsageError>) {
          print_error(Error(ErrorCode::invalid_argument, options.text), options.json, context);
          return exit_usage;
        } else {
          return run_command(options, context);
        }
      },
      command);
}

}  // namespace ringshard::cli
