// run_command: runs a program to its end, and returns its output, status, time and memory.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::test {

struct CommandOptions {
  std::string_view input = {};  // given on stdin, which is then closed
  std::chrono::milliseconds timeout{60'000};
  std::vector<std::string> environment = {};     // NAME=VALUE, in addition to the inherited ones
  std::string directory = {};                    // working directory; empty: the current one
  std::function<void()> in_child = {};           // run between fork and exec: async-signal-safe calls only
  std::function<void(pid_t)> once_started = {};  // run in the parent after exec; may signal the child
};

struct CommandOutput {
  std::string out;         // stdout
  std::string err;         // stderr
  int status = -1;         // exit status, or 128 + signal
  bool timed_out = false;  // killed at the time-out
  std::chrono::nanoseconds elapsed{};
  std::chrono::nanoseconds cpu{};  // user and system time of the program and the children it waited for
  std::uint64_t peak_kib = 0;      // peak resident memory
};

// Runs argv[0] (looked up in PATH). An error means that it could not be started. The child dies with the calling
// thread. Any thread.
Result<CommandOutput> run_command(const std::vector<std::string>& argv, const CommandOptions& options = {});

// Runs the jtrace under test with these arguments (JTRACE_TEST_BINARY, otherwise the one of this build).
std::string jtrace_binary();
Result<CommandOutput> run_jtrace(const std::vector<std::string>& arguments, const CommandOptions& options = {});

}  // namespace jtrace::test
