// Loads any agent, a native library or a jar, into a running JVM. Threads: any.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "attach/protocol.h"
#include "base/result.h"
#include "target/jvm_discovery.h"
#include "target/process.h"

namespace jtrace::attach {

// The agent to load: an absolute path, or a bare name that the JVM searches among its own libraries.
struct Agent {
  std::string name;  // for messages
  std::string path;  // as the target sees it
  bool by_name = false;
  bool jar = false;
};

// Interprets a word of the user: with a slash, with the end .so or .jar, or as the name of an existing file it is a
// path.
Result<Agent> find_agent(const std::string& word);
// The request that loads the agent; `options` are passed to it.
Request load_request(const Agent& agent, const std::string& options);

struct LoadOptions {
  std::string options;            // passed to the agent
  bool deliver = false;           // copy the file into the target's file system for the time of the loading
  std::optional<double> timeout;  // seconds, as in bounds_of()
  int cancel_fd = -1;
  // Called just before a JVM will print a warning about the agent into its own output (JEP 451).
  std::function<void(const target::Process&, const target::Jvm&)> before_warning;
};
// Checks, delivers and loads. Errors: those of preflight() and AttachSession; kAgent: the agent cannot be loaded, or
// Agent_OnAttach refused.
Result<> load_agent(pid_t pid, Agent agent, const LoadOptions& options);

}  // namespace jtrace::attach
