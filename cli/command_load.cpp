// jtrace load: loads any agent, native or Java, into a running JVM.
#include <memory>

#include "attach/agent_load.h"
#include "base/in_parallel.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"

namespace jtrace::cli {
namespace {

struct LoadArguments {
  AttachRunOptions run;
  std::string agent;
  std::string options;
  bool deliver = false;
};

void announce_warning(const target::Process& process, const target::Jvm& jvm) {
  log_warning("process " + std::to_string(process.pid()) + " (JDK " + std::to_string(jvm.feature) +
              ") will print a warning about the dynamically loaded agent on its stderr (JEP 451); started with "
              "-XX:+EnableDynamicAgentLoading it would not");
}

ExitStatus run(const LoadArguments& arguments) {
  if (selects_all(arguments.run.selectors) && !arguments.run.confirmed)
    return report(Error{
        .category = ErrorCategory::kUsage, .text = "'all' would load the agent into each JVM", .help = "say --yes"});
  const auto agent = attach::find_agent(arguments.agent);
  if (!agent) return report(agent.error());
  if (arguments.deliver && agent->by_name)
    return report(
        Error{.category = ErrorCategory::kNotFound, .text = "no such library to deliver", .path = agent->path});
  const auto pids = select_jvms(arguments.run.selectors);
  if (!pids) return report(pids.error());
  const ScopedCancel cancel;
  std::vector<ExitStatus> statuses;
  const attach::LoadOptions options{.options = arguments.options,
                                    .deliver = arguments.deliver,
                                    .timeout = arguments.run.timeout,
                                    .cancel_fd = cancel.fd(),
                                    .before_warning = announce_warning};
  InParallel<Result<>> loads(pids->size(),
                             [&](std::size_t i) { return attach::load_agent((*pids)[i], *agent, options); });
  for (std::size_t i = 0; i < pids->size(); ++i) {
    const auto loaded = loads.wait(i);
    const std::string who = "process " + std::to_string((*pids)[i]);
    if (loaded) log_info(who + " loaded " + agent->name + ": Agent_OnAttach returned 0");
    else report(pids->size() > 1 ? loaded.error().with_context(who) : loaded.error());
    statuses.push_back(loaded ? ExitStatus::kOk : exit_status(loaded.error()));
  }
  return combined_status(statuses);
}

}  // namespace

void add_load_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<LoadArguments>();
  CLI::App* command = app.add_subcommand("load", summary_of("load"));
  command
      ->add_option("JVM", arguments->run.selectors, "process id or part of the main class; several with commas, or all")
      ->required();
  command->add_option("AGENT", arguments->agent, "path of a library or jar; the JVM searches for a bare name")
      ->required();
  command->add_option("OPTIONS", arguments->options, "passed to the agent");
  command->add_flag("--deliver", arguments->deliver, "copy it temporarily into the target's file system");
  add_timeout(*command, arguments->run);
  command->add_flag("--yes", arguments->run.confirmed, "required by 'all'");
  command->fallthrough();
  command->footer("Example: jtrace load 4711 ./libmyagent.so verbose=1 --deliver");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
