// Several requests to one JVM over one session: a batch. Threads: any, each with its own run.
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
  std::optional<Reply> reply;  // what was received, also in case of an error
  Result<> verdict;
};

// The time limits of a run of these requests. `timeout`: seconds, for the start and the first reply together and for
// each further reply. Without it: 10 s for the start and 60 s for a reply, half an hour if one of the requests may take
// long.
AttachOptions bounds_of(const std::vector<Request>& requests, std::optional<double> timeout, int cancel_fd);

// Sends the requests, in order. While the JVM works on one, the next ones that only read are sent already. `when_done`
// is called with each outcome, and the replies of a batch are discarded after it; `before_long_wait` is called if the
// next reply is not there at once. A failure that concerns all requests is one outcome, with the first request. After a
// time-out, an interruption or the end of the JVM no further request is sent.
std::vector<Outcome> run_requests(pid_t pid, const std::vector<Request>& requests, const AttachOptions& bounds,
                                  const std::function<void(Outcome&)>& when_done = {},
                                  const std::function<void()>& before_long_wait = {});

}  // namespace jtrace::attach
