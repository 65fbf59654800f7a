// TraceRun: one `jtrace attach` of a test, from its start to its document.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/testlib/background_command.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_document.h"

namespace jtrace::test {

class TraceRun {
 public:
  // Starts `jtrace attach PID -o FILE ARGUMENT...` and waits until it traces (its file has a traceStart).
  static Result<std::unique_ptr<TraceRun>> start(pid_t pid, const std::vector<std::string>& arguments = {});
  // Kills it if it still runs, and removes its files.
  ~TraceRun();

  BackgroundCommand& command() { return *command_; }
  const std::string& path() const { return path_; }
  // Sends SIGINT, as Ctrl-C does, and waits for the end. Errors: it did not end, or its status is not `want`.
  Result<> stop(int want = 0);
  Result<TraceDocument> document() const { return TraceDocument::read(path_); }
  // stop() and document().
  Result<TraceDocument> finish(int want = 0);

 private:
  explicit TraceRun(pid_t target) : target_(target) {}

  pid_t target_;
  ScratchDir folder_{"jtrace-trace"};
  std::string path_ = folder_.file("trace.xml");
  std::unique_ptr<BackgroundCommand> command_;
};

// Waits until the file exists and contains the bytes; kTimeout after `timeout`, or as soon as `alive` returns false.
Result<> wait_for_bytes(const std::string& path, std::string_view bytes, std::chrono::milliseconds timeout,
                        const std::function<bool()>& alive);

// Removes the ring memory in /dev/shm of killed traces of that process: 64 MiB each.
void remove_left_pools(pid_t target);

// The threads of a process: "tid name" each. To check that no thread of jtrace stays.
std::vector<std::string> threads_of(pid_t pid);

}  // namespace jtrace::test
