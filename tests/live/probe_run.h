// Shared by the live tests of `jtrace probe`.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/testlib/background_command.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

// Debian's JDK 8 was built without probes. The test asks jtrace itself, so that a broken `jtrace probes` fails the
// test.
#define NEED_PROBES(jdk)                                                                                 \
  if (const auto said = run_jtrace({"probes", (jdk).libjvm()});                                          \
      said && said->status == 1 && said->err.find("built without --enable-dtrace") != std::string::npos) \
  GTEST_SKIP() << said->err

namespace jtrace::test {

// Starts `jtrace probe ARGUMENT...` and waits until its probes are set. kPermission: probes are not allowed here.
inline Result<std::unique_ptr<BackgroundCommand>> start_probe(std::vector<std::string> arguments,
                                                              const CommandOptions& options = {}) {
  arguments.insert(arguments.begin(), {jtrace_binary(), "probe"});
  JTRACE_ASSIGN_OR_RETURN(auto probe, BackgroundCommand::start(arguments, options));
  if (probe->wait_err_line("jtrace: tracing", std::chrono::seconds(60))) return probe;
  const std::string said = probe->err();
  const bool forbidden = said.find("CAP_") != said.npos;
  return fail(forbidden ? ErrorCategory::kPermission : ErrorCategory::kSystem, "jtrace probe did not start: " + said);
}
// The same in a test, as a BackgroundCommand of that name.
#define START_PROBE(name, ...)                                                          \
  auto name##_started = start_probe(__VA_ARGS__);                                       \
  if (!name##_started && name##_started.error().category == ErrorCategory::kPermission) \
    JTRACE_SKIP("bpf", name##_started.error().message());                               \
  const auto name##_command = must(std::move(name##_started));                          \
  BackgroundCommand& name = *name##_command

// Sends the signal and waits for the end with that status.
inline void stop(BackgroundCommand& probe, int want = 0, int signal = SIGINT) {
  probe.signal(signal);
  const auto status = must(probe.wait_exit(std::chrono::minutes(2)));
  EXPECT_EQ(status, want) << probe.err();
}

}  // namespace jtrace::test
