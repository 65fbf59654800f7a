// ControlSource: where requests to a trace that runs come from: `jtrace ctl` (ctl_socket.h), the keys and signals of
// `jtrace attach`. Verbs and answers are the same for all. Threads: the runner's.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::session {

struct CtlRequest {
  int client;  // for answer(); no two sources give out the same one
  std::vector<std::string> words;
};

class ControlSource {
 public:
  virtual ~ControlSource() = default;
  // Adds the descriptors to poll.
  virtual void add_to(std::vector<pollfd>& descriptors) const = 0;
  // Takes what is there, without waiting; whole requests.
  virtual std::vector<CtlRequest> receive() = 0;
  // The answer to a request; nothing where it is another source's.
  virtual void answer(int client, ExitStatus status, std::string_view text) = 0;
};

}  // namespace jtrace::session
