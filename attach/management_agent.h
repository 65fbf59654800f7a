// The local management agent (JMX) of a JVM. Threads: any.
#pragma once

#include <string>

#include "attach/attach_session.h"

namespace jtrace::attach {

// The service URL of the JVM's local connector; the agent is started where it does not run. Errors: as AttachSession;
// kRefused, the JVM lacks jdk.management.agent.
Result<std::string> management_url(pid_t pid, const AttachOptions& bounds);

}  // namespace jtrace::attach
