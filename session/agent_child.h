// run_agent_child: the body of `jtrace agent-child`, which the agent of a JVM with -agentpath starts. It becomes a
// process of its own, answers the agent's Hello and drains to the end. Descriptor 3 is the socket.
//
// Every other descriptor of the JVM is closed first. Nothing is printed: an error is sent to the agent (Refused), which
// may write one line to the JVM's stderr. Returns in the process that stays; the JVM's own child has ended by then.
#pragma once

#include "base/result.h"

namespace jtrace::session {

ExitStatus run_agent_child();

}  // namespace jtrace::session
