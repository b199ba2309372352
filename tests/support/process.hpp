#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ringshard::testing {

/// How a program ended, and what it printed.
struct ProcessResult {
  int exit_code = -1;  ///< -1: ended by a signal
  int signal = 0;      ///< 0: it ended by itself
  std::string out;
  std::string err;
};

/// A real process, started at once. Killed and waited for at the end of the scope if it still runs.
/// For one thread.
class Process {
 public:
  /// `environment` is added to this process's own.
  Process(const std::filesystem::path& program, const std::vector<std::string>& arguments,
          const std::map<std::string, std::string>& environment = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t id() const noexcept { return id_; }
  void send(int signal) const;

  /// Waits for its end. With a limit: nothing if it still runs then.
  ProcessResult wait();
  std::optional<ProcessResult> wait_for(std::chrono::milliseconds limit);

  /// True if it is stopped (SIGSTOP) now; waits up to `limit` for that.
  bool stopped_within(std::chrono::milliseconds limit) const;

 private:
  pid_t id_ = -1;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// Starts a program and waits for it.
ProcessResult run_process(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& environment = {});

}  // namespace ringshard::testing
