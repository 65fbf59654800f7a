// The head of a document of counters: node, processCreate and agentCreate, with the ids that a trace of the same
// process has. Of a file or a core, whose host is not known, they are made of what the counters say. Any thread.
#pragma once

#include <string>

#include "perfdata/poll_output.h"

namespace jtrace::session {

// `agent_parameters`: of hsperf. A node that several JVMs have is written once.
perfdata::WriteHead counter_head(std::string agent_parameters, bool show_secrets);

}  // namespace jtrace::session
