// ControlSource: a source of requests to a running trace: `jtrace ctl` (ctl_socket.h), the keys and signals of `jtrace
// attach`. Threads: the runner's.
#pragma once

#include <poll.h>

#include <vector>

#include "session/control_request.h"

namespace jtrace::session {

// The sender of a request.
struct Asker {
  class ControlSource* source = nullptr;  // borrowed; null: the runner itself
  int client = 0;                         // the source's own number
};

struct PendingRequest {
  Asker asker;
  ControlRequest request;
};

class ControlSource {
 public:
  virtual ~ControlSource() = default;
  // Adds the descriptors to poll.
  virtual void add_to(std::vector<pollfd>& descriptors) const = 0;
  // Reads what has arrived, without waiting. Returns only complete requests.
  virtual std::vector<PendingRequest> receive() = 0;
  // Sends the answer to a request of this source.
  virtual void answer(int client, const ControlAnswer& answer) = 0;
};

}  // namespace jtrace::session
