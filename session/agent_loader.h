// AgentLoader: loads the agent into a JVM by Dynamic Attach and connects to it by a socket. The agent is delivered into
// the target's file system for a short time; if this very agent is still mapped from an earlier trace, it is loaded
// again from there. Borrows the Process. Threads: one.
#pragma once

#include <chrono>
#include <string>

#include "attach/attach_session.h"
#include "base/result.h"
#include "session/control_channel.h"
#include "target/process.h"

namespace jtrace::session {

struct LoaderOptions {
  std::chrono::milliseconds timeout{10'000};
  int cancel_fd = -1;
  std::string agent_path;  // "": the embedded agent
};

struct GreetedAgent {
  ControlChannel channel;
  Hello hello;
  attach::Exchange load;  // the JVM answers it when Agent_OnAttach returns, after Start: finish_load()
};

// Loads the agent and takes its Hello; the agent waits for Start. Errors: those of attach; kAgent if it could not be
// loaded or did not connect; kRefused if `cancel_fd` ended it.
Result<GreetedAgent> load_agent(const target::Process& process, const LoaderOptions& options);

// Reads the JVM's answer to `load`, so that the JVM does not write to a closed socket. The answer itself is ignored.
void finish_load(attach::Exchange& load, const attach::Waiter& waiter);

// The next frame of the agent, within `timeout`. Errors: kTimeout, kAgent (it hung up), kNotFound (the JVM ended).
Result<Frame> wait_for_frame(ControlChannel& channel, const attach::Waiter& waiter);

}  // namespace jtrace::session
