// hsperf check: do conditions on counters hold? Status 0: yes; 1: no, as a shell expects; 4: the JVM does not have what
// they name. With --until it waits for them.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "cli/hsperf_check_text.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "cli/one_of.h"
#include "perfdata/derived.h"
#include "perfdata/poll_loop.h"
#include "perfdata/watch.h"

namespace jtrace::cli {
namespace {

using Wake = perfdata::PollLoop::Wake;
using State = perfdata::LastingWatch::State;

struct CheckArguments {
  SourceArguments sources;
  std::vector<std::string> expressions;
  std::string command, format = "text";
  std::chrono::nanoseconds interval = std::chrono::seconds(1), hold{0}, timeout{0};
  bool until = false, any = false, quiet = false;
  bool is_quiet() const { return quiet || log_level() == LogLevel::kError; }
};

// The user's command, in a shell, with the facts in its environment.
void run_command(const CheckArguments& arguments, const perfdata::CounterSource& source, const CheckAnswer& answer) {
  ::setenv("HSPERF_PID", std::to_string(source.pid()).c_str(), 1);
  ::setenv("HSPERF_NAME", std::string(answer.condition.shown()).c_str(), 1);
  ::setenv("HSPERF_EXPRESSION", answer.condition.text.c_str(), 1);
  ::setenv("HSPERF_VALUES", answer.explained.c_str(), 1);
  const pid_t child = ::fork();
  if (child == 0) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (arguments.format == "json") ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is one object
    ::execl("/bin/sh", "sh", "-c", arguments.command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = -1;
  if (child > 0) ::waitpid(child, &status, 0);
  if (status != 0) log_warning("--then '" + arguments.command + "' did not succeed");
}

struct Parsed {
  perfdata::NamedCondition condition;
  perfdata::Expression expression;
};

Result<std::vector<Parsed>> parse(const std::vector<std::string>& words) {
  std::vector<Parsed> all;
  for (const std::string& word : words) {
    perfdata::NamedCondition condition = perfdata::named_condition(word);
    JTRACE_ASSIGN_OR_RETURN(perfdata::Expression expression, perfdata::Expression::parse(condition.text));
    all.push_back({std::move(condition), std::move(expression)});
  }
  return all;
}

// The conditions of one run, and what is known of each.
class Check {
 public:
  Check(const CheckArguments& arguments, perfdata::CounterSource& source) : arguments_(arguments), source_(source) {}

  Result<> add(Parsed parsed) {
    JTRACE_ASSIGN_OR_RETURN(perfdata::Watch watch, perfdata::Watch::of(std::move(parsed.expression), source_.first()));
    conditions_.push_back(
        {.watch = {std::move(watch), arguments_.hold}, .answer = {.condition = std::move(parsed.condition)}});
    return {};
  }

  // Looks until each condition is answered, or the time is over.
  Result<> run() {
    JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
    const perfdata::PollPlan plan{.interval = std::max<std::chrono::nanoseconds>(arguments_.interval, kLeast),
                                  .duration = arguments_.timeout};
    perfdata::PollLoop pace(plan, stop.get());
    if (source_.process()) pace.watch({source_.process()->pidfd()});
    while (!is_over()) {
      JTRACE_ASSIGN_OR_RETURN(const bool goes_on, wait(pace));
      std::swap(before_, now_);
      JTRACE_RETURN_IF_ERROR(source_.read(now_));
      ++looks_;
      for (Condition& each : conditions_)
        if (!each.answered) JTRACE_RETURN_IF_ERROR(look(each, before()));
      if (!goes_on && !is_over()) return give_up();  // the last look is that of the end
    }
    return answer_the_others();
  }

  ExitStatus status() const {
    if (has_run_out_) return ExitStatus::kTimeout;
    const auto holds = [](const Condition& each) { return each.answer.holds; };
    const bool good = arguments_.any ? std::any_of(conditions_.begin(), conditions_.end(), holds)
                                     : std::all_of(conditions_.begin(), conditions_.end(), holds);
    if (good) return ExitStatus::kOk;
    const auto fails = [](const Condition& each) { return !each.answer.holds && !each.answer.lack; };
    const bool is_no = !arguments_.until && std::any_of(conditions_.begin(), conditions_.end(), fails);
    return is_no ? ExitStatus::kRefused : ExitStatus::kNotAttachable;
  }

  Result<> print_json() const {
    std::string text;
    JsonWriter json(text);
    begin_json_view(json, "check", source_, now_);
    json.key("data").begin_array();
    for (const Condition& each : conditions_) write_answer(json, each.answer);
    json.end_array().end_object();
    return print_out(text + "\n");
  }

 private:
  static constexpr std::chrono::milliseconds kLeast{1};

  struct Condition {
    perfdata::LastingWatch watch;
    CheckAnswer answer;
    bool answered = false, told = false;  // told: what it lacks
  };

  bool is_answered() const {
    const auto answered = [](const Condition& each) { return each.answered; };
    return arguments_.any ? std::any_of(conditions_.begin(), conditions_.end(), answered)
                          : std::all_of(conditions_.begin(), conditions_.end(), answered);
  }

  // What this JVM lacks it will not get: waiting for that would never end.
  bool is_over() const {
    const auto lacks = [](const Condition& each) { return each.answered || each.answer.lack; };
    const auto begin = conditions_.begin(), end = conditions_.end();
    const bool is_hopeless =
        arguments_.any ? std::all_of(begin, end, lacks)
                       : std::any_of(begin, end, [](const Condition& each) { return each.answer.lack.has_value(); });
    return is_answered() || (arguments_.until && is_hopeless);
  }

  // False if the time is over.
  Result<bool> wait(perfdata::PollLoop& pace) const {
    switch (pace.wait()) {
      case Wake::kStopped:
        return fail(ErrorCategory::kTimeout, arguments_.until ? "stopped before the condition held"
                                                              : "stopped before it had held for the whole time");
      case Wake::kEnded: return fail(ErrorCategory::kNotFound, "the JVM has ended while it was watched");
      case Wake::kDone: return false;
      default: return true;
    }
  }

  Result<> look(Condition& each, const perfdata::Snapshot* before) {
    const State state = each.watch.look(now_, before);
    const bool is_live = source_.process() != nullptr;
    if (is_live && (state == State::kUnknown || state == State::kHolds)) return {};
    const bool holds =
        state == State::kLasted || state == State::kHolds || (!is_live && each.watch.watch().holds(now_, before));
    note_lack(each, before, holds);
    if (!holds && arguments_.until) return {};
    return answer(each, before, holds);
  }

  // Also with -q: an alert that can never fire must not look like one that need not.
  void note_lack(Condition& each, const perfdata::Snapshot* before, bool holds) {
    // A JVM that is starting may get its counters while --until waits.
    const bool may_come = arguments_.until && arguments_.sources.any_state;
    each.answer.lack = holds || may_come ? std::nullopt : each.watch.watch().lack(now_, before);
    if (each.answer.lack && !each.told) log_error(lack_of(each.answer).message());
    each.told = each.told || each.answer.lack;
  }

  Result<> answer(Condition& each, const perfdata::Snapshot* before, bool holds) {
    each.answered = true;
    each.answer.holds = holds;
    each.answer.time = source_.process() ? now_.realtime_ns : 0;
    each.answer.age = perfdata::derived_value("uptime", now_, before);
    each.answer.explained = each.watch.watch().explain(now_, before);
    each.answer.values = each.watch.watch().values(now_, before);
    if (arguments_.format == "text" && !arguments_.is_quiet() && !each.answer.lack)
      JTRACE_RETURN_IF_ERROR(print_out(text_of(each.answer)));
    if (holds && !arguments_.command.empty()) run_command(arguments_, source_, each.answer);
    return {};
  }

  // Null at the first look.
  const perfdata::Snapshot* before() const { return looks_ > 1 ? &before_ : nullptr; }

  // --timeout is over.
  Result<> give_up() {
    has_run_out_ = !is_answered();
    return answer_the_others();
  }

  // Those that have not held until now, with their values at this moment: of --any too.
  Result<> answer_the_others() {
    for (Condition& each : conditions_)
      if (!each.answered) JTRACE_RETURN_IF_ERROR(answer(each, before(), false));
    return {};
  }

  const CheckArguments& arguments_;
  perfdata::CounterSource& source_;
  std::vector<Condition> conditions_;
  perfdata::Snapshot before_, now_;
  std::size_t looks_ = 0;
  bool has_run_out_ = false;
};

Result<ExitStatus> check(const CheckArguments& arguments) {
  // What is wrong with one is said before a JVM is asked.
  JTRACE_ASSIGN_OR_RETURN(std::vector<Parsed> parsed, parse(arguments.expressions));
  JTRACE_ASSIGN_OR_RETURN(perfdata::CounterSource source, open_one(arguments.sources));
  if (arguments.until && !source.process())
    return fail(ErrorCategory::kUsage, "--until waits for a running JVM, and a file or a core does not change");
  print_warnings(source);
  Check check(arguments, source);
  for (Parsed& each : parsed) JTRACE_RETURN_IF_ERROR(check.add(std::move(each)));
  JTRACE_RETURN_IF_ERROR(check.run());
  if (arguments.format == "json") JTRACE_RETURN_IF_ERROR(check.print_json());
  return check.status();
}

std::string derived_list() {
  std::string text;
  for (const perfdata::DerivedName& each : perfdata::derived_names())
    text += (text.empty() ? "" : ", ") + std::string(each.name);
  return text;
}

ExitStatus run_check(const CheckArguments& arguments) {
  const auto answer = check(arguments);
  if (answer) return *answer;
  // 1 means that the condition does not hold, so a refusal needs another number.
  const ExitStatus status = report(answer.error());
  return status == ExitStatus::kRefused ? ExitStatus::kNotAttachable : status;
}

}  // namespace

void add_hsperf_check(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<CheckArguments>();
  auto* command = app.add_subcommand("check", "does a condition hold? status 0: yes, 1: no");
  add_source_arguments(*command, arguments->sources, false);
  command
      ->add_option("CONDITION", arguments->expressions,
                   "for example 'old.share > 90% and gc.pause_share > 5%'; a name may stand before it: 'full: "
                   "old.share > 90%'")
      ->required();
  auto* until = command->add_flag("--until", arguments->until, "wait until each condition has held once");
  command
      ->add_flag("--any", arguments->any,
                 "with --until: until one of the conditions has held; the others are shown with their values then")
      ->needs(until);
  add_time(*command, "--timeout", arguments->timeout, "with --until: how long to wait at most; then the status is 6",
           {.least = std::chrono::milliseconds(1)})
      ->needs(until);
  add_time(*command, "--for", arguments->hold,
           "it must hold from now on for this time; the first test that fails ends it with 1 (0s: one test); with "
           "--until: hold for this time without a break; a number alone is seconds");
  add_time(*command, "-i,--interval", arguments->interval,
           "time between two tests (1s); shares and rates refer to it; a number alone is ms", kIntervalRange);
  command->add_option("--then", arguments->command, "shell command to run for each condition that holds")
      ->type_name("CMD");
  command->add_option("--format", arguments->format, "text or json: one object at the end")
      ->check(one_of({"text", "json"}));
  command->add_flag("-q,--quiet", arguments->quiet, "no answer, only the exit status");
  command->footer(
      "Status: 0 if it holds; 1 if it does not; 4 if this JVM does not have what it names (eden.used of ZGC), so that "
      "it can be neither: of several conditions 1 if one is false, otherwise 4. --until ends with 4 at once, as what a "
      "JVM lacks does not come later (but for a JVM that is starting, with --any-state); with --any if no other "
      "condition is left. 6 if --timeout is over.\n"
      "Derived values: " +
      derived_list() +
      ".\nexample: hsperf check 4711 'gc.pause_share > 10%' --for 30s --then 'jcmd $HSPERF_PID GC.heap_info'"
      "\nexample: hsperf check 4711 --until --timeout 10m 'heap: old.share > 90%' 'threads: threads.live > 2000'");
  command->callback([arguments, &status] { status = run_check(*arguments); });
}

}  // namespace jtrace::cli
