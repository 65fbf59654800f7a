// AgentLoader: gets the agent into a JVM by Dynamic Attach and meets it on a socket: delivered into the target's file
// system for a moment, or, where this very agent is mapped there from an earlier trace, loaded again from there.
// Borrows the Process. Threads: one.
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

// Loads the agent and takes its Hello; it waits for Start. Errors: those of attach; kAgent where it could not be loaded
// or did not connect; kRefused where `cancel_fd` ended it.
Result<GreetedAgent> load_agent(const target::Process& process, const LoaderOptions& options);

// Reads the JVM's answer to `load`, so that the JVM does not write to a closed socket. The answer itself is ignored.
void finish_load(attach::Exchange& load, const attach::Waiter& waiter);

// The next frame of the agent, within `timeout`. Errors: kTimeout, kAgent (it hung up), kNotFound (the JVM ended).
Result<Frame> wait_for_frame(ControlChannel& channel, const attach::Waiter& waiter);

}  // namespace jtrace::session
