// jtrace stack: what each thread of a JVM does, Java frames and the native function on top, the target stopped for
// milliseconds.
#include "cli/commands.h"
#include "cli/inspect_common.h"

namespace jtrace::cli {

void add_stack_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand(
      "stack", "stacks of all threads of a live JVM or a core; needs no help of the JVM, so works on one that hangs");
  command->add_option("PID|CORE", arguments->target, "process id, part of a main class, or a core file")->required();
  add_inspect_options(*command, *arguments);
  command->footer("Example: jtrace stack 1234 --max-stop 50");
  command->callback([arguments, &status] {
    status = run_view(*arguments, {"stack", "", "", coreinspect::view_stack});
  });
}

}  // namespace jtrace::cli
