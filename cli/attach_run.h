// Running attach requests on one JVM or several, in parallel, and printing what they answer. For command_cmd,
// command_load and command_jmx.
#pragma once

#include <signal.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attach/attach_session.h"
#include "base/result.h"

namespace jtrace::cli {

struct AttachRunOptions {
  std::string selectors;          // comma-separated, or all
  std::optional<double> timeout;  // seconds, for start and reply together
  std::string format = "text";
  bool show_secrets = false;
  bool confirmed = false;  // --yes
};

// The result of one request on one JVM.
struct Outcome {
  pid_t pid = 0;
  attach::Request request;
  std::optional<attach::Reply> reply;  // what was received, also with an error
  Result<> verdict;
};

// The bounds of a run: --timeout for everything, else 10 s to start and 60 s for a reply, half an hour for a heap dump.
attach::AttachOptions attach_options(const AttachRunOptions& options, const std::vector<attach::Request>& requests,
                                     int cancel_fd);

// Sends the requests, in order, over one session. `when_done` is called with each outcome; `before_long_wait` where the
// next reply is not there at once.
std::vector<Outcome> run_requests(pid_t pid, const std::vector<attach::Request>& requests,
                                  const AttachRunOptions& options, int cancel_fd,
                                  const std::function<void(Outcome&)>& when_done = {},
                                  const std::function<void()>& before_long_wait = {});

// run_requests() on each JVM, several at a time, and the printing: data on stdout, labelled where there is more than
// one answer, in the order of the JVMs; errors on stderr. Returns the exit status: kPartial where some failed and some
// did not.
ExitStatus run_and_print(const AttachRunOptions& options, const std::vector<attach::Request>& requests);

// 0 where all are, kPartial where some are and some are not, else the first.
ExitStatus combined_status(const std::vector<ExitStatus>& statuses);

// {"view":...,"target":...,"complete":...,"missing":[...],"data":ROWS} with a newline; `rows` is a JSON array.
std::string json_view(std::string_view view, std::string_view selectors, const std::vector<std::string>& missing,
                      std::string_view rows);

// True where the request reads only, so that `all` needs no --yes.
bool reads_only(const attach::Request& request);

// While it lives, SIGINT, SIGTERM and SIGHUP make fd() readable instead of ending the program, so that files
// in the target are removed. A signal that comes after the work is done has no effect (stop_signals.h).
class ScopedCancel {
 public:
  ScopedCancel();
  ScopedCancel(const ScopedCancel&) = delete;
  ScopedCancel& operator=(const ScopedCancel&) = delete;
  ~ScopedCancel();
  int fd() const { return fd_.get(); }
  // The work is done and much may be printed: from here on signals have their usual effect.
  void let_go();

 private:
  sigset_t before_{};
  UniqueFd fd_;
  bool has_let_go_ = false;
};

}  // namespace jtrace::cli
