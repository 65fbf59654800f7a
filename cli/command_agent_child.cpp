// jtrace agent-child: started by the agent of a JVM with -agentpath; not for users.
#include "cli/commands.h"
#include "cli/summaries.h"
#include "session/agent_child.h"

namespace jtrace::cli {

void add_agent_child_command(CLI::App& app, ExitStatus& status) {
  CLI::App* command = app.add_subcommand("agent-child", summary_of("agent-child"));
  command->group("");  // not in the help
  command->callback([&status] {
    status = session::run_agent_child();
    if (status == ExitStatus::kUsage) log_error("agent-child is for the agent: descriptor 3 is no socket");
  });
}

}  // namespace jtrace::cli
