// Loading any agent, a native library or a jar, into a running JVM. Threads: any.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "attach/protocol.h"
#include "base/result.h"
#include "target/jvm_discovery.h"
#include "target/process.h"

namespace jtrace::attach {

// What is to be loaded: a path (absolute), or a bare name that the JVM looks for among its own libraries.
struct Agent {
  std::string name;  // for messages
  std::string path;  // as the target sees it
  bool by_name = false;
  bool jar = false;
};

// A word of the user: with a slash, the end .so or .jar, or the name of a file that is here, it is a path.
Result<Agent> find_agent(const std::string& word);
// The request that loads it; `options` are the agent's.
Request load_request(const Agent& agent, const std::string& options);

struct LoadOptions {
  std::string options;            // passed to the agent
  bool deliver = false;           // the file is copied into the target's file system for the moment
  std::optional<double> timeout;  // seconds, as bounds_of() has it
  int cancel_fd = -1;
  // Called just before a JVM is made to warn of the agent in its own output (JEP 451).
  std::function<void(const target::Process&, const target::Jvm&)> before_warning;
};
// Looks, delivers, loads. Errors: as preflight() and AttachSession; kAgent, it cannot be loaded or Agent_OnAttach said
// no.
Result<> load_agent(pid_t pid, Agent agent, const LoadOptions& options);

}  // namespace jtrace::attach
