#include "support/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "support/clock.hpp"
#include "support/paths.hpp"

extern char** environ;

namespace ringshard::testing {
namespace {

std::filesystem::path temporary_file() {
  std::string name = (std::filesystem::temp_directory_path() / "ringshard-output-XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) throw std::runtime_error("no temporary file");
  ::close(file);
  return name;
}

/// Everything that is allocated is allocated before the fork.
struct Vector {
  std::vector<std::string> texts;
  std::vector<char*> pointers;

  void add(std::string text) { texts.push_back(std::move(text)); }
  char** get() {
    pointers.clear();
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers.data();
  }
};

}  // namespace

Process::Process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& environment)
    : out_(temporary_file()), err_(temporary_file()) {
  Vector argv;
  argv.add(program.string());
  for (const std::string& argument : arguments) argv.add(argument);
  Vector variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!environment.contains(text.substr(0, text.find('=')))) variables.add(text);
  }
  for (const auto& [name, value] : environment) variables.add(name + "=" + value);
  char** const argument_list = argv.get();
  char** const variable_list = variables.get();
  id_ = ::fork();
  if (id_ < 0) throw std::runtime_error("no process could be started");
  if (id_ == 0) {
    const int out = ::open(out_.c_str(), O_WRONLY | O_TRUNC);
    const int err = ::open(err_.c_str(), O_WRONLY | O_TRUNC);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::execve(program.c_str(), argument_list, variable_list);
    ::_exit(127);
  }
}

Process::~Process() {
  if (id_ > 0) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove(out_, ignored);
  std::filesystem::remove(err_, ignored);
}

void Process::send(int signal) const { ::kill(id_, signal); }

ProcessResult Process::wait() { return *wait_for(std::chrono::hours(1)); }

std::optional<ProcessResult> Process::wait_for(std::chrono::milliseconds limit) {
  const Deadline deadline = Deadline::after(system_clock(), limit);
  int status = 0;
  while (::waitpid(id_, &status, WNOHANG) == 0) {
    if (deadline.passed(system_clock())) return std::nullopt;
    system_clock().sleep_for(std::chrono::milliseconds(2));
  }
  id_ = -1;
  ProcessResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = read_file(out_);
  result.err = read_file(err_);
  return result;
}

bool Process::stopped_within(std::chrono::milliseconds limit) const {
  const Deadline deadline = Deadline::after(system_clock(), limit);
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(id_), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == id_)
      return true;
    if (deadline.passed(system_clock())) return false;
    system_clock().sleep_for(std::chrono::milliseconds(2));
  }
}

ProcessResult run_process(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& environment) {
  return Process(program, arguments, environment).wait();
}

}  // namespace ringshard::testing
