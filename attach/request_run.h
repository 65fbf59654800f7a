// Several requests to one JVM over one session: a batch. Threads: any, each its own run.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "attach/attach_session.h"

namespace jtrace::attach {

// The result of one request on one JVM.
struct Outcome {
  pid_t pid = 0;
  Request request;
  std::optional<Reply> reply;  // what was received, also with an error
  Result<> verdict;
};

// The bounds of a run of these requests. `timeout`: seconds, for start and first reply together and for each further
// reply; without it 10 s to start and 60 s for a reply, half an hour where one of them may take long.
AttachOptions bounds_of(const std::vector<Request>& requests, std::optional<double> timeout, int cancel_fd);

// Sends the requests, in order. While the JVM works on one, the next ones that only read are on their way already.
// `when_done` is called with each outcome, and the replies of a batch are dropped after it; `before_long_wait` where
// the next reply is not there at once. What concerns all of them is one outcome, with the first request. After a
// time-out, an interruption or the JVM's end none is sent any more.
std::vector<Outcome> run_requests(pid_t pid, const std::vector<Request>& requests, const AttachOptions& bounds,
                                  const std::function<void(Outcome&)>& when_done = {},
                                  const std::function<void()>& before_long_wait = {});

}  // namespace jtrace::attach
