// jtrace jmx: the service URL of a JVM's local management agent; starts the agent if it does not run.
#include <cstdio>
#include <memory>

#include "attach/management_agent.h"
#include "attach/request_run.h"
#include "base/in_parallel.h"
#include "base/json.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"

namespace jtrace::cli {
namespace {

struct JmxArguments {
  AttachRunOptions run;
};

ExitStatus run(const JmxArguments& arguments) {
  if (selects_all(arguments.run.selectors) && !arguments.run.confirmed)
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = "'all' would start the management agent of each JVM",
                        .help = "say --yes"});
  const auto pids = select_jvms(arguments.run.selectors);
  if (!pids) return report(pids.error());
  std::string out;
  std::vector<ExitStatus> statuses;
  std::vector<std::string> missing;
  std::string rows;
  JsonWriter json(rows);
  json.begin_array();
  {
    const ScopedCancel cancel;
    InParallel<Result<std::string>> urls(pids->size(), [&](std::size_t i) {
      return attach::management_url((*pids)[i], attach::bounds_of({}, arguments.run.timeout, cancel.fd()));
    });
    for (std::size_t i = 0; i < pids->size(); ++i) {
      const pid_t pid = (*pids)[i];
      const auto url = urls.wait(i);
      statuses.push_back(url ? ExitStatus::kOk : exit_status(url.error()));
      if (!url) report(pids->size() > 1 ? url.error().with_context("process " + std::to_string(pid)) : url.error());
      if (!url) missing.push_back(std::to_string(pid));
      if (!url) continue;
      out += (pids->size() > 1 ? std::to_string(pid) + " " : "") + *url + '\n';
      json.begin_object().member("pid", pid).member("url", *url).end_object();
    }
  }
  json.end_array();
  if (arguments.run.format == "json") out = json_view("jmx", arguments.run.selectors, missing, rows);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return combined_status(statuses);
}

}  // namespace

void add_jmx_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<JmxArguments>();
  CLI::App* command = app.add_subcommand("jmx", summary_of("jmx"));
  command
      ->add_option("JVM", arguments->run.selectors, "process id or part of the main class; several with commas, or all")
      ->required();
  add_timeout(*command, arguments->run);
  command->add_option("--format", arguments->run.format, "text or json")->check(one_of({"text", "json"}));
  command->add_flag("--yes", arguments->run.confirmed, "required by 'all'");
  command->fallthrough();
  command->footer("Example: jtrace jmx 4711");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
