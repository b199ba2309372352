#pragma once

#include <span>
#include <string>

#include "migrator/cli.hpp"
#include "migrator/commands/context.hpp"

namespace ringshard::cli {

// Each command writes its result to context.out, as text or as JSON, and returns the exit code. An
// Error goes through: run_program() prints it.

int run(const InitOptions& options, Context& context);
int run(const ImportOptions& options, Context& context);
int run(const RouteOptions& options, Context& context);
int run(const RingOptions& options, Context& context);
int run(const PlanOptions& options, Context& context);
int run(const PreflightOptions& options, Context& context);
int run(const ApplyOptions& options, Context& context);
int run(const StatusOptions& options, Context& context);
int run(const VerifyOptions& options, Context& context);
int run(const ResumeOptions& options, Context& context);
int run(const WishOptions& options, Context& context);
int run(const DoctorOptions& options, Context& context);
int run(const EventsOptions& options, Context& context);

/// The whole program but for signals: parses the arguments after the program's name, runs the
/// command, and prints an error: to context.err as text or, with --json, to context.out as
/// {"error": {…}}.
///
///     Context context{std::cout, std::cerr, system_clock()};
///     return run_program({{"status", "--json"}}, context);
int run_program(std::span<const std::string> arguments, Context& context);

}  // namespace ringshard::cli
