// jtrace stack: the stack of each thread of a JVM, Java frames with native ones; the target is stopped for
// milliseconds.
#include <algorithm>
#include <cctype>

#include "cli/answer_format.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/view_run.h"

namespace jtrace::cli {
namespace {

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// "" if each of the words is a state; otherwise what is wrong.
std::string are_states(const std::string& words) {
  const auto is_state = one_of({"NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED"});
  for (std::string each : CLI::detail::split(upper_case(words), ','))
    if (std::string wrong = is_state(each); !wrong.empty()) return wrong;
  return {};
}

ExitStatus run(InspectArguments arguments) {
  if (const Result<> good = settle_output(arguments, coreinspect::stack_view()); !good) return report(good.error());
  const coreinspect::ThreadChoice& threads = arguments.options.threads;
  if (arguments.format == "xml" && (threads.is_some() || threads.java || threads.group))
    return report({.category = ErrorCategory::kUsage,
                   .text = "--java, --thread, --state and --group are for text and json: xml has all threads"});
  if (threads.locals && (threads.group || arguments.format == "xml"))
    return report({.category = ErrorCategory::kUsage,
                   .text = "--locals is for text and json, of each thread: not with --group or xml"});
  return run_view(arguments, coreinspect::stack_view());
}

}  // namespace

void add_stack_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("stack", summary_of("stack"));
  command->add_option("PID|CORE", arguments->target, "process id, part of a main class, or a core file")->required();
  add_inspect_options(*command, *arguments);
  add_max_stop(*command, *arguments);
  coreinspect::ThreadChoice& threads = arguments->options.threads;
  command->add_flag("--java", threads.java, "only Java threads and Java frames");
  command->add_option("--thread", threads.name,
                      "the thread of this name; without one, those whose name contains this, or matches a pattern with "
                      "* and ?; several are separated by "
                      "commas");
  command
      ->add_option("--state", threads.state,
                   "only threads in one of these states: NEW, RUNNABLE, BLOCKED, WAITING, TIMED_WAITING, TERMINATED; "
                   "several are separated by commas")
      ->type_name("STATE[,STATE...]")
      ->check(are_states);
  command->add_flag("--locals", threads.locals,
                    "the local variables of each frame, compiled ones included; with --java without those of the "
                    "JDK's methods. Not with --group");
  command->add_flag("--show-secrets", arguments->options.show_secrets, "with --locals: do not mask secrets");
  command->add_flag("--group", threads.group, "show threads with equal frames once, the largest group first");
  command->footer("Example: jtrace stack 1234 --max-stop 50ms");
  command->callback([arguments, &status] {
    std::string& state = arguments->options.threads.state;
    state = upper_case(state);
    status = run(*arguments);
  });
}

}  // namespace jtrace::cli
