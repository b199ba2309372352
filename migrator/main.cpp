// The program ringshard: signals, terminal, and then run_program().

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ringshard/error.hpp>
#include <string>
#include <vector>

#include "migrator/commands/commands.hpp"
#include "migrator/commands/exit_code.hpp"
#include "mover/lock_guard.hpp"
#include "support/clock.hpp"
#include "support/fault.hpp"

namespace {

ringshard::cli::StopSignal stop;
static_assert(std::atomic<bool>::is_always_lock_free);

void ask_to_stop(int signal_number) {
  // A second signal does not wait: whatever is cut off, `resume` goes on with it.
  if (!stop.heeded.load() || stop.requested.exchange(true)) ::_exit(128 + signal_number);
}

void direct_signals() {
  // A file that can not grow and a pipe that nobody reads are errors of a write, not the end.
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

std::size_t columns_of_terminal() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    direct_signals();
    ringshard::fault::arm_from_environment();
    // Before the first thread: it starts a process.
    const ringshard::LockGuard guard;
    const bool terminal = ::isatty(STDERR_FILENO) == 1;
    const char* no_color = std::getenv("NO_COLOR");
    ringshard::cli::Context context{
        .out = std::cout, .err = std::cerr, .clock = ringshard::system_clock()};
    context.terminal = terminal;
    context.color = terminal && (no_color == nullptr || *no_color == '\0');
    context.columns = columns_of_terminal();
    context.answers = terminal && ::isatty(STDIN_FILENO) == 1 ? &std::cin : nullptr;
    context.stop = &stop;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return ringshard::cli::run_program(arguments, context);
  } catch (const ringshard::Error& error) {
    std::cerr << "ringshard: " << error.what() << '\n';
    return ringshard::cli::exit_code_of(error);
  } catch (const std::exception& exception) {
    std::cerr << "ringshard: " << exception.what() << '\n';
    return ringshard::cli::exit_failed;
  }
}
