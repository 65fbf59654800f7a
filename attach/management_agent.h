// The local management agent (JMX) of a JVM. Threads: any.
#pragma once

#include <string>

#include "attach/attach_session.h"

namespace jtrace::attach {

// The service URL of the JVM's local connector; starts the agent if it does not run. Errors: those of AttachSession;
// kRefused: the JVM lacks jdk.management.agent.
Result<std::string> management_url(pid_t pid, const AttachOptions& bounds);

}  // namespace jtrace::attach
