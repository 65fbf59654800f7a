// hsperf check: does a condition on counters hold? Status 0: yes; 1: no, as a shell expects.
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "base/clock.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "perfdata/derived.h"
#include "perfdata/poll_loop.h"
#include "perfdata/watch.h"

namespace jtrace::cli {
namespace {

struct CheckArguments {
  SourceArguments sources;
  std::string expression, command;
  std::chrono::nanoseconds interval = std::chrono::seconds(1), hold{0};
};

struct Verdict {
  bool holds = false;
  std::string values;
};

// Takes samples until the condition fails, or has held for the whole time. Values that need two snapshots are known
// from the second sample on.
Result<Verdict> watch(perfdata::CounterSource& source, const perfdata::Watch& watch, const CheckArguments& arguments) {
  perfdata::PollPlan plan;
  plan.interval = std::max<std::chrono::nanoseconds>(arguments.interval, std::chrono::milliseconds(1));
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  perfdata::PollLoop pace(plan, stop.get());
  if (source.process()) pace.watch({source.process()->pidfd()});
  const auto span = static_cast<std::uint64_t>(arguments.hold.count());
  perfdata::Snapshot before, now;
  std::uint64_t since = 0;  // time at which it began to hold
  for (int looks = 0;; ++looks) {
    const auto wake = pace.wait();
    if (wake == perfdata::PollLoop::Wake::kStopped)
      return fail(ErrorCategory::kTimeout, "stopped before the condition had held for the whole time");
    if (wake == perfdata::PollLoop::Wake::kEnded)
      return fail(ErrorCategory::kNotFound, "the JVM has ended while it was watched");
    std::swap(before, now);
    JTRACE_RETURN_IF_ERROR(source.read(now));
    const perfdata::Snapshot* earlier = looks == 0 ? nullptr : &before;
    if (!earlier && watch.needs_two() && source.process()) continue;
    Verdict verdict{.holds = watch.holds(now, earlier), .values = watch.explain(now, earlier)};
    if (since == 0) since = now.monotonic_ns;
    if (!verdict.holds || now.monotonic_ns - since >= span || !source.process()) return verdict;
  }
}

// The user's command, in a shell, with the facts in HSPERF_PID, HSPERF_EXPRESSION and HSPERF_VALUES.
void run_command(const CheckArguments& arguments, const perfdata::CounterSource& source, const Verdict& verdict) {
  ::setenv("HSPERF_PID", std::to_string(source.pid()).c_str(), 1);
  ::setenv("HSPERF_EXPRESSION", arguments.expression.c_str(), 1);
  ::setenv("HSPERF_VALUES", verdict.values.c_str(), 1);
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execl("/bin/sh", "sh", "-c", arguments.command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = -1;
  if (child > 0) ::waitpid(child, &status, 0);
  if (status != 0) log_warning("--then '" + arguments.command + "' did not succeed");
}

Result<Verdict> check(const CheckArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(perfdata::Expression expression, perfdata::Expression::parse(arguments.expression));
  JTRACE_ASSIGN_OR_RETURN(perfdata::CounterSource source, open_one(arguments.sources));
  print_warnings(source);
  JTRACE_ASSIGN_OR_RETURN(const perfdata::Watch condition, perfdata::Watch::of(std::move(expression), source.first()));
  JTRACE_ASSIGN_OR_RETURN(Verdict verdict, watch(source, condition, arguments));
  JTRACE_RETURN_IF_ERROR(print_out((verdict.holds ? "holds: " : "does not hold: ") + verdict.values + "\n"));
  if (verdict.holds && !arguments.command.empty()) run_command(arguments, source, verdict);
  return verdict;
}

std::string derived_list() {
  std::string text;
  for (const perfdata::DerivedName& each : perfdata::derived_names())
    text += (text.empty() ? "" : ", ") + std::string(each.name);
  return text;
}

ExitStatus run_check(const CheckArguments& arguments) {
  auto verdict = check(arguments);
  if (verdict) return verdict->holds ? ExitStatus::kOk : ExitStatus::kRefused;
  // 1 means that the condition does not hold, so a refusal needs another number.
  const ExitStatus status = report(verdict.error());
  return status == ExitStatus::kRefused ? ExitStatus::kNotAttachable : status;
}

}  // namespace

void add_hsperf_check(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<CheckArguments>();
  auto* command = app.add_subcommand("check", "does a condition hold? status 0: yes, 1: no");
  add_source_arguments(*command, arguments->sources, false);
  command->add_option("EXPRESSION", arguments->expression, "for example 'old.share > 90% and gc.pause_share > 5%'")
      ->required();
  add_time(*command, "--for", arguments->hold,
           "it must hold from now on for this time; the first test that fails ends it with 1 (0s: one test)");
  add_time(*command, "-i,--interval", arguments->interval,
           "time between two tests (1s); shares and rates refer to it; a plain number: ms", kIntervalRange);
  command->add_option("--then", arguments->command, "shell command to run when it holds")->type_name("CMD");
  command->footer(
      "Derived values: " + derived_list() +
      ".\nexample: hsperf check 4711 'gc.pause_share > 10%' --for 30s --then 'jcmd $HSPERF_PID GC.heap_info'");
  command->callback([arguments, &status] { status = run_check(*arguments); });
}

}  // namespace jtrace::cli
