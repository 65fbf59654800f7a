// run_command: one program run to its end, with its output, status, time and memory.
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
  std::string_view input = {};  // given on stdin, which is closed after it
  std::chrono::milliseconds timeout{60'000};
  std::vector<std::string> environment = {};     // NAME=VALUE, over the inherited ones
  std::string directory = {};                    // where to run; empty: here
  std::function<void()> in_child = {};           // run between fork and exec: async-signal-safe calls only
  std::function<void(pid_t)> once_started = {};  // run in the parent after exec; may signal the child
};

struct CommandOutput {
  std::string out;         // stdout
  std::string err;         // stderr
  int status = -1;         // exit status, or 128 + signal
  bool timed_out = false;  // it was killed by us at the timeout
  std::chrono::nanoseconds elapsed{};
  std::chrono::nanoseconds cpu{};  // user and system time of the program and the children it waited for
  std::uint64_t peak_kib = 0;      // peak resident memory
};

// Runs argv[0] (looked up in PATH). An error means that it could not be run at all. The child dies with the calling
// thread. Any thread.
Result<CommandOutput> run_command(const std::vector<std::string>& argv, const CommandOptions& options = {});

// The jtrace under test with these arguments (JTRACE_TEST_BINARY, else the one of this build).
std::string jtrace_binary();
Result<CommandOutput> run_jtrace(const std::vector<std::string>& arguments, const CommandOptions& options = {});

}  // namespace jtrace::test
