// The agent's only thread. It answers jtrace on the control socket, reads heap figures after a collection if no perf
// counter has them, and ends the session at Detach or when jtrace hangs up. A daemon thread made with RunAgentThread.
#pragma once

#include <memory>

#include "agent/agent_session.h"

namespace jtrace::agent {

// Starts it on session->threads.own(). It takes the session; if it cannot be started, the caller still has it.
bool run_control_thread(std::unique_ptr<AgentSession>& session);

}  // namespace jtrace::agent
