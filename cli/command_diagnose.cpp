// jtrace diagnose: what is wrong with a JVM, in one command. Status 0: nothing found; 1: found; 9: nothing found, and
// not everything could be examined.
#include <signal.h>

#include <cstdio>
#include <optional>

#include "base/json_answer.h"
#include "base/leavable_child.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/bundle_views.h"
#include "cli/commands.h"
#include "cli/diagnose_bundle.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"
#include "cli/view_run.h"
#include "coreinspect/tools/core_redaction.h"
#include "diagnose/bundle_file.h"
#include "diagnose/condition.h"
#include "diagnose/verdict.h"
#include "perfdata/poll_loop.h"

namespace jtrace::cli {
namespace {

constexpr std::chrono::seconds kEveryLook(60), kEveryTest(1);

Result<diagnose::Collected> collect(const DiagnoseArguments& arguments) {
  const std::string& target = arguments.inspect.target;
  if (is_file_name(target))
    return diagnose::collect_core(target, [&arguments]() -> Result<std::unique_ptr<coreinspect::Inspection>> {
      JTRACE_ASSIGN_OR_RETURN(auto inspection, open_inspection(arguments.inspect));
      JTRACE_RETURN_IF_ERROR(coreinspect::check_not_redacted(inspection->target(), "diagnosis"));
      return inspection;
    });
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(target, Takes::kJvmOrFile));
  if (const auto process = target::Process::open(pid); !process) return fail(process.error());  // before its looks
  // A copy for the collectors: one that does not end in time outlives this function.
  const InspectArguments live = of_process(arguments, pid);
  const diagnose::CollectOptions options{
      .interval = arguments.interval, .max_stop = arguments.inspect.max_stop, .budget = arguments.budget};
  return diagnose::collect_live(
      pid, [live] { return open_inspection(live); }, options);
}

std::string json_of(const diagnose::Verdict& verdict, const diagnose::Collected& collected) {
  std::string text;
  JsonWriter json(text);
  begin_answer(json, "diagnose").begin_object();
  if (collected.facts.live) json.member("kind", "process").member("pid", std::stol(collected.facts.target));
  else json.member("kind", "core").member("path", collected.facts.target);
  json.member("version", collected.facts.release).end_object();
  write_missing(json, !diagnose::is_partial(verdict, collected) && collected.missing.empty(), collected.missing);
  text += ',';
  diagnose::write_members(text, verdict, collected);
  text += ",\"data\":[";
  diagnose::write_findings(text, verdict);
  return text + "]}\n";
}

ExitStatus status_of(const diagnose::Verdict& verdict, const diagnose::Collected& collected) {
  if (verdict.is_found()) return ExitStatus::kRefused;
  return diagnose::is_partial(verdict, collected) ? ExitStatus::kPartial : ExitStatus::kOk;
}

// Why the verdict is printed, and whether it is printed if nothing was found.
struct Occasion {
  std::string reason = {};
  bool only_trouble = false;
};

// Nothing if nothing was found, and the verdict is not to be printed then.
std::optional<ExitStatus> diagnose_target(const DiagnoseArguments& arguments, const Occasion& occasion = {}) {
  const ClockAnchor begin = ClockAnchor::now();
  auto collected = collect(arguments);
  if (!collected) {
    // 1 means that something was found, so a refusal needs another number.
    const ExitStatus status = report(collected.error());
    return status == ExitStatus::kRefused ? ExitStatus::kNotAttachable : status;
  }
  const diagnose::Verdict verdict = diagnose::judge(collected->facts);
  // A collector that is stuck in the kernel is trouble as well; and a further one at each look would be too many.
  if (occasion.only_trouble && !verdict.is_found() && !collected->left_behind) return std::nullopt;
  const std::string json = json_of(verdict, *collected), text = diagnose::text_of(verdict, *collected);
  const std::string& shown = arguments.inspect.format == "json" ? json : text;
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  std::fflush(stdout);  // whatever becomes of the bundle
  if (verdict.of_core && collected->target_incomplete)
    for (const std::string& line : collected->missing) log_info("missing: " + line);
  const ExitStatus status = status_of(verdict, *collected);
  if (arguments.output.empty()) return status;
  return make_bundle(arguments, *collected,
                     {.tool = "jtrace " JTRACE_VERSION,
                      .text = text,
                      .findings = json,
                      .status = static_cast<int>(status),
                      .anonymize = arguments.anonymize,
                      .reason = occasion.reason,
                      .begin = begin});
}

// Until something is found, the JVM ends, or a signal comes.
Result<ExitStatus> watch_pid(const DiagnoseArguments& arguments, pid_t pid) {
  std::optional<diagnose::Condition> condition;
  if (!arguments.when.empty()) {
    JTRACE_ASSIGN_OR_RETURN(condition, diagnose::Condition::open(pid, arguments.when));
  }
  const std::chrono::milliseconds every = arguments.every.count() > 0 ? arguments.every
                                          : condition                 ? kEveryTest
                                                                      : kEveryLook;
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  perfdata::PollLoop pace({.interval = every}, stop.get());
  pace.watch({process.pidfd()});
  for (int looks = 0;; ++looks) {
    const auto wake = pace.wait();
    if (wake == perfdata::PollLoop::Wake::kStopped) {
      log_info("stopped: nothing was found in " + counted(looks, "look") + ", so there is no bundle");
      return ExitStatus::kOk;
    }
    if (wake == perfdata::PollLoop::Wake::kEnded)
      return fail(ErrorCategory::kNotFound, "the JVM " + std::to_string(pid) + " has ended while it was watched");
    if (!condition) {
      if (const auto status = diagnose_target(arguments, {"something was found", true})) return *status;
      continue;
    }
    JTRACE_ASSIGN_OR_RETURN(const auto reason, condition->holds());
    if (!reason) continue;
    log_info("the condition holds: " + *reason);
    return diagnose_target(arguments, {*reason, false}).value_or(ExitStatus::kOk);
  }
}

ExitStatus watch(DiagnoseArguments arguments) {
  const auto pid = select_jvm(arguments.inspect.target);
  if (!pid) return report(pid.error());
  arguments.inspect.target = std::to_string(*pid);
  const auto status = watch_pid(arguments, *pid);
  return status ? *status : report(status.error());
}

// A collector may wait in the kernel for as long as it wants: whoever waits for this program must not.
ExitStatus run_for_process(const DiagnoseArguments& arguments) {
  const auto end = run_in_leavable_child(
      [&] { return arguments.watch ? watch(arguments) : diagnose_target(arguments).value_or(ExitStatus::kOk); });
  if (!end) return report(end.error());
  if (end->left_behind != 0)
    log_warning("process " + std::to_string(end->left_behind) +
                " is left behind: it waits in the kernel, and ends when that lets it go");
  if (end->signal == 0) return end->status;
  ::signal(end->signal, SIG_DFL);
  ::raise(end->signal);
  return ExitStatus::kRefused;
}

ExitStatus run(const DiagnoseArguments& arguments) {
  if (const auto checked = check_diagnose(arguments); !checked) return report(checked.error());
  const std::string& target = arguments.inspect.target;
  const bool json = arguments.inspect.format == "json";
  if (!arguments.later.empty()) return compare_bundles(target, arguments.later, json);
  if (is_file_name(target) && diagnose::is_bundle(target)) return show_bundle_verdict(target, json);
  if (!is_file_name(target)) return run_for_process(arguments);
  return diagnose_target(arguments).value_or(ExitStatus::kOk);
}

}  // namespace

void add_diagnose_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* command = app.add_subcommand("diagnose", summary_of("diagnose"));
  add_diagnose_options(*command, *arguments);
  command->footer(
      "Nothing is loaded into the JVM, and it need not respond.\n"
      "Status 0: nothing found; 1: something found; 9: nothing found, and not everything could be examined.\n"
      "Example: jtrace diagnose 4711 -o app.zip && jtrace inspect app.zip threads");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
