// jtrace ctl PID VERB: steers a trace that runs.
#include <cstdio>

#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/selector.h"
#include "session/ctl_socket.h"
#include "session/options/filter_rule.h"

namespace jtrace::cli {
namespace {

struct CtlArguments {
  std::string jvm;
  std::string verb;
  std::vector<std::string> rules;
  std::string filter_file;
};

// The request's words; filters are checked here, so that a wrong one is a usage error of this command.
Result<std::vector<std::string>> request_of(const CtlArguments& arguments) {
  std::vector<std::string> words = {arguments.verb};
  if (arguments.verb != "filters") {
    if (!arguments.rules.empty() || !arguments.filter_file.empty())
      return fail(ErrorCategory::kUsage, "ctl " + arguments.verb + " takes no filter rules");
    return words;
  }
  if (arguments.rules.empty() && arguments.filter_file.empty())
    return fail(ErrorCategory::kUsage, "filters needs rules: they replace those in force",
                "'* include' lets everything through");
  for (const std::string& text : arguments.rules) {
    JTRACE_ASSIGN_OR_RETURN(const session::FilterRule rule, session::parse_filter_rule(text));
    words.push_back(session::to_text(rule));
  }
  if (!arguments.filter_file.empty()) {
    JTRACE_ASSIGN_OR_RETURN(const auto rules, session::read_filter_file(arguments.filter_file));
    for (const session::FilterRule& rule : rules) words.push_back(session::to_text(rule));
  }
  return words;
}

ExitStatus run(const CtlArguments& arguments) {
  const auto words = request_of(arguments);
  if (!words) return report(words.error());
  const auto process = open_selected(arguments.jvm);
  if (!process) return report(process.error());
  const auto reply = session::ask_ctl(process->pid(), process->start_ticks(), process->uid(), *words);
  if (!reply) return report(reply.error());
  if (reply->status == ExitStatus::kOk || reply->status == ExitStatus::kPartial)
    std::fputs(reply->text.c_str(), stdout);
  else log_error("ctl " + arguments.verb + ": " + reply->text.substr(0, reply->text.find('\n')));
  return reply->status;
}

}  // namespace

void add_ctl_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<CtlArguments>();
  CLI::App* command = app.add_subcommand("ctl", "steer a trace that runs");
  command->add_option("jvm", arguments->jvm, "pid, or a part of the main class that one JVM has")
      ->required()
      ->type_name("PID");
  command
      ->add_option(
          "verb", arguments->verb,
          "status: what it does; pause, resume; stop: end the trace, start: the next one, in a new file; filters: "
          "replace the filters; flush; count; detach: end it")
      ->required()
      ->check(one_of({"start", "stop", "pause", "resume", "filters", "flush", "count", "status", "detach"}));
  command->add_option("rule", arguments->rules, "with filters: 'CLASS-PATTERN [METHOD-PATTERN] include|exclude'");
  command->add_option("--filters", arguments->filter_file, "with filters: a file with one rule a line");
  command->footer("Example: jtrace ctl 4711 filters 'java.* exclude'");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
