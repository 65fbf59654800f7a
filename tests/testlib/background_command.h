// BackgroundCommand: a program that runs beside the test, and is killed when the object is destroyed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tests/testlib/line_collector.h"
#include "tests/testlib/run_command.h"

namespace jtrace::test {

class BackgroundCommand {
 public:
  // Its stdin is empty. Of `options` it takes environment, directory and in_child.
  static Result<std::unique_ptr<BackgroundCommand>> start(const std::vector<std::string>& argv,
                                                          const CommandOptions& options = {});
  ~BackgroundCommand();

  pid_t pid() const { return pid_; }
  std::string out() const { return out_->text(); }
  std::string err() const { return err_->text(); }
  // The next line of stdout that starts with `prefix`; nullopt at the time-out or at the program's end.
  std::optional<std::string> wait_out_line(std::string_view prefix, std::chrono::milliseconds timeout) {
    return out_->wait_line(prefix, timeout);
  }
  // The next line of stderr that starts with `prefix`; nullopt at the time-out or at the program's end.
  std::optional<std::string> wait_err_line(std::string_view prefix, std::chrono::milliseconds timeout) {
    return err_->wait_line(prefix, timeout);
  }

  bool alive() const;
  void signal(int number) const;  // does nothing after the program was waited for
  // Exit status, or 128 + signal. kTimeout if it does not end in time.
  Result<int> wait_exit(std::chrono::milliseconds timeout = std::chrono::seconds(60));

 private:
  BackgroundCommand() = default;

  std::vector<std::string> argv_;
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool ended_ = false;
  int status_ = -1;
  std::unique_ptr<LineCollector> out_;
  std::unique_ptr<LineCollector> err_;
};

}  // namespace jtrace::test
