// jtrace ctl PID VERB: controls a running trace.
#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/selector.h"
#include "cli/summaries.h"
#include "session/ctl_socket.h"
#include "session/options/filter_rule.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

struct CtlArguments {
  std::string jvm;
  std::string word;
  session::ControlVerb verb = session::ControlVerb::kStatus;
  std::vector<std::string> rules;
  std::string filter_file;
};

// Filters are checked here, so that a wrong filter is a usage error of this command.
Result<session::ControlRequest> request_of(const CtlArguments& arguments) {
  session::ControlRequest request{.verb = arguments.verb};
  if (arguments.verb != session::ControlVerb::kFilters) {
    if (!arguments.rules.empty() || !arguments.filter_file.empty())
      return fail(ErrorCategory::kUsage,
                  "ctl " + std::string(session::word_of(arguments.verb)) + " takes no filter rules");
    return request;
  }
  if (arguments.rules.empty() && arguments.filter_file.empty())
    return fail(ErrorCategory::kUsage, "filters needs rules: they replace those in force",
                "'* include' lets everything through");
  for (const std::string& text : arguments.rules) {
    JTRACE_ASSIGN_OR_RETURN(session::FilterRule rule, session::parse_filter_rule(text));
    request.filters.push_back(std::move(rule));
  }
  if (arguments.filter_file.empty()) {
    session::exclude_the_rest(request.filters);
    return request;
  }
  JTRACE_ASSIGN_OR_RETURN(auto rules, session::read_filter_file(arguments.filter_file));
  for (session::FilterRule& rule : rules) request.filters.push_back(std::move(rule));
  return request;
}

ExitStatus run(const CtlArguments& arguments) {
  const auto request = request_of(arguments);
  if (!request) return report(request.error());
  const auto process = open_selected(arguments.jvm);
  if (!process) return report(process.error());
  const auto reply = session::ask_ctl(process->pid(), process->start_ticks(), process->uid(), *request);
  if (!reply) {
    const auto maps = process->maps();
    if (maps && target::find_libjvm(*maps) == nullptr)
      return report(
          Error{ErrorCategory::kNotAttachable, "process " + std::to_string(process->pid()) + " is no JVM"}.with_help(
              "jtrace list shows the JVMs"));
    return report(reply.error());
  }
  if (reply->status == ExitStatus::kOk || reply->status == ExitStatus::kPartial)
    std::fputs(reply->text.c_str(), stdout);
  else log_error("ctl " + arguments.word + ": " + reply->text.substr(0, reply->text.find('\n')));
  return reply->status;
}

std::vector<std::string> verb_words() {
  std::vector<std::string> words;
  for (const session::ControlVerb verb : session::control_verbs()) words.emplace_back(session::word_of(verb));
  return words;
}

session::ControlVerb verb_of(std::string_view word) {
  const auto verbs = session::control_verbs();
  return *std::find_if(verbs.begin(), verbs.end(), [&](auto verb) { return session::word_of(verb) == word; });
}

std::string pid_in_second_place(const std::string& word) {
  const bool is_pid = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  return is_pid ? "the PID comes first: jtrace ctl " + word + " status" : std::string();
}

}  // namespace

void add_ctl_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<CtlArguments>();
  CLI::App* command = app.add_subcommand("ctl", summary_of("ctl"));
  command->add_option("JVM", arguments->jvm, "pid, or a part of the main class that matches one JVM")
      ->required()
      ->type_name("PID");
  command->add_option("VERB", arguments->word, "what to do with the trace; see below")
      ->required()
      ->check(pid_in_second_place)
      ->check(one_of(verb_words()));
  command->add_option("RULE", arguments->rules, "with filters: 'CLASS-PATTERN [METHOD-PATTERN] [include|exclude]'");
  command->add_option("--filters", arguments->filter_file, "with filters: a file with one rule per line");
  command->footer(
      "  status         show the state of the trace\n"
      "  pause, resume  record nothing for a while, in the same document\n"
      "  stop, start    end the document; begin the next one, in a new file\n"
      "  filters        replace the filters\n"
      "  flush          write everything that is recorded so far\n"
      "  count          write the counts of calls (with --events counts)\n"
      "  detach         end the trace\n"
      "Example: jtrace ctl 4711 filters 'java.* exclude'");
  command->callback([arguments, &status] {
    arguments->verb = verb_of(arguments->word);  // one of them: it was checked
    status = run(*arguments);
  });
}

}  // namespace jtrace::cli
