// run_agent_child: what `jtrace agent-child` is: started by the agent of a JVM that was started with -agentpath, it
// becomes a process of its own, answers the agent's Hello and drains to the end. Descriptor 3 is the socket.
//
// Everything else that the JVM had open is closed first; nothing is printed: what is wrong goes to the agent (Refused),
// which has one line for the JVM's stderr. Returns in the child that stays; the JVM's own child has left by then.
#pragma once

#include "base/result.h"

namespace jtrace::session {

ExitStatus run_agent_child();

}  // namespace jtrace::session
