// jtrace diagnose: what is wrong with a JVM, in one command. Status 0: nothing found; 1: found; 9: nothing found, and
// not everything could be examined.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/strings.h"
#include "cli/bundle_views.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/units.h"
#include "diagnose/bundle.h"
#include "diagnose/bundle_file.h"
#include "diagnose/bundle_parts.h"
#include "diagnose/condition.h"
#include "diagnose/verdict.h"
#include "perfdata/poll_loop.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {
namespace {

struct DiagnoseArguments {
  InspectArguments inspect;
  std::string later;   // the bundle that `inspect.target` is compared with
  std::string output;  // of the bundle; "" for none
  std::chrono::milliseconds interval{1000};
  bool core = false;
  bool anonymize = false;
  bool watch = false;
  std::string when;                    // "" until something is found
  std::chrono::milliseconds every{0};  // 0: by what is waited for
};

constexpr std::chrono::seconds kEveryLook(60), kEveryTest(1);

InspectArguments of_process(const DiagnoseArguments& arguments, pid_t pid) {
  InspectArguments live = arguments.inspect;
  live.target = std::to_string(pid);
  return live;
}

Result<diagnose::Collected> collect(const DiagnoseArguments& arguments) {
  const std::string& target = arguments.inspect.target;
  if (is_file_name(target))
    return diagnose::collect_core(target, [&arguments] { return open_inspection(arguments.inspect); });
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(target));
  // A copy for the collectors: one that does not end in time outlives this function.
  const InspectArguments live = of_process(arguments, pid);
  const diagnose::CollectOptions options{.interval = arguments.interval, .max_stop = arguments.inspect.max_stop};
  return diagnose::collect_live(
      pid, [live] { return open_inspection(live); }, options);
}

std::string json_of(const diagnose::Verdict& verdict, const diagnose::Collected& collected) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("view", "diagnose").key("target").begin_object();
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

// A signal during the few milliseconds of the writing would leave its temporary file.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t ends;
    ::sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signal);
    ::sigprocmask(SIG_BLOCK, &ends, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

Result<> write_file(const std::string& path, const std::string& bytes) {
  const SignalsBlocked blocked;
  JTRACE_ASSIGN_OR_RETURN(const auto sink, open_whole_output(path));
  JTRACE_RETURN_IF_ERROR(sink->write(bytes));
  return sink->finish();
}

// Reads the further parts, and writes all as one file.
ExitStatus make_bundle(const DiagnoseArguments& arguments, diagnose::Collected& collected,
                       diagnose::BundleFrame frame) {
  const pid_t pid = static_cast<pid_t>(std::stol(collected.facts.target));
  const InspectArguments live = of_process(arguments, pid);
  frame.judged = collected.steps.size();
  diagnose::collect_parts(pid,
                          {.open = [live] { return open_inspection(live); },
                           .document = view_document,
                           .max_stop = arguments.inspect.max_stop,
                           .core = arguments.core},
                          collected);
  const auto bytes = diagnose::bundle_of(collected, frame);
  if (!bytes) return report(bytes.error());
  if (const auto written = write_file(arguments.output, *bytes); !written) return report(written.error());
  const auto missing = diagnose::missing_parts(collected, frame.judged);
  log_info(arguments.output + ": " + std::to_string((bytes->size() + 1023) >> 10) + " KiB");
  if (missing.empty()) return static_cast<ExitStatus>(frame.status);
  log_info("not in it: " + missing.front() +
           (missing.size() == 1 ? "" : "; and " + std::to_string(missing.size() - 1) + " more, see its SUMMARY.txt"));
  return frame.status == 0 ? ExitStatus::kPartial : static_cast<ExitStatus>(frame.status);
}

Result<> check_words(const DiagnoseArguments& arguments) {
  const std::string& target = arguments.inspect.target;
  const bool is_bundle = is_file_name(target) && diagnose::is_bundle(target);
  if (!arguments.later.empty() && !(is_bundle && diagnose::is_bundle(arguments.later))) {
    const std::string& other = is_bundle ? arguments.later : target;
    return fail(ErrorCategory::kUsage, other + " is not a bundle: two bundles are compared",
                "jtrace diagnose PID -o FILE.zip");
  }
  if (arguments.output.empty() && (arguments.core || arguments.anonymize))
    return fail(ErrorCategory::kUsage, "--core and --anonymize are for a bundle", "-o FILE.zip");
  if (arguments.core && arguments.anonymize)
    return fail(ErrorCategory::kUsage, "names in a core cannot be replaced: either --core or --anonymize");
  if (!arguments.output.empty() && is_file_name(target))
    return fail(ErrorCategory::kUsage, target + " is not a process: a bundle is made of a live JVM");
  if (!arguments.watch && (!arguments.when.empty() || arguments.every.count() > 0))
    return fail(ErrorCategory::kUsage, "--when and --every are for --watch");
  if (arguments.watch && arguments.output.empty())
    return fail(ErrorCategory::kUsage, "--watch makes a bundle when there is something to say", "-o FILE.zip");
  if (arguments.output == "-")
    return fail(ErrorCategory::kUsage, "the verdict goes to standard output, so the bundle needs a file",
                "-o FILE.zip");
  return {};
}

// Why something is said, and whether it is said if nothing is found.
struct Occasion {
  std::string reason = {};
  bool only_trouble = false;
};

// Nothing if nothing was found, and that is not to be said.
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
  ExitStatus status = status_of(verdict, *collected);
  if (!arguments.output.empty())
    status = make_bundle(arguments, *collected,
                         {.tool = "jtrace " JTRACE_VERSION,
                          .text = text,
                          .findings = json,
                          .status = static_cast<int>(status),
                          .anonymize = arguments.anonymize,
                          .reason = occasion.reason,
                          .begin = begin});
  if (!collected->left_behind) return status;
  // A collector's thread may still wait in the kernel and use objects that the normal end of the program destroys.
  std::fflush(stdout);
  ::_exit(static_cast<int>(status));
}

// Until there is something to say, the JVM ends, or a signal comes.
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
      log_info("stopped: nothing to say in " + counted(looks, "look") + ", so there is no bundle");
      return ExitStatus::kOk;
    }
    if (wake == perfdata::PollLoop::Wake::kEnded)
      return fail(ErrorCategory::kNotFound, "the JVM " + std::to_string(pid) + " has ended while it was watched");
    if (!condition) {
      if (const auto status = diagnose_target(arguments, {"something was found", true})) return *status;
      continue;
    }
    JTRACE_ASSIGN_OR_RETURN(const auto reason, condition->holds());
    if (reason) return diagnose_target(arguments, {*reason, false}).value_or(ExitStatus::kOk);
  }
}

ExitStatus watch(DiagnoseArguments arguments) {
  const auto pid = select_jvm(arguments.inspect.target);
  if (!pid) return report(pid.error());
  arguments.inspect.target = std::to_string(*pid);
  const auto status = watch_pid(arguments, *pid);
  return status ? *status : report(status.error());
}

ExitStatus run(const DiagnoseArguments& arguments) {
  if (const auto checked = check_words(arguments); !checked) return report(checked.error());
  const std::string& target = arguments.inspect.target;
  const bool json = arguments.inspect.format == "json";
  if (!arguments.later.empty()) return compare_bundles(target, arguments.later, json);
  if (is_file_name(target) && diagnose::is_bundle(target)) return show_bundle_verdict(target, json);
  if (arguments.watch) return watch(arguments);
  return diagnose_target(arguments).value_or(ExitStatus::kOk);
}

}  // namespace

void add_diagnose_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<DiagnoseArguments>();
  arguments->inspect.max_stop = std::chrono::milliseconds(50);
  CLI::App* command = app.add_subcommand(
      "diagnose", "what is wrong with a live JVM or a core: a verdict in a few seconds; and a bundle of it");
  command
      ->add_option("PID|CORE|BUNDLE", arguments->inspect.target,
                   "process id, part of a main class, a core file, or a bundle that -o made")
      ->required();
  command->add_option("NEW", arguments->later, "a later bundle: what has changed since the first one");
  command->add_option("-o,--output", arguments->output,
                      "zip archive to make: the verdict and what it rests on, for those who look at it later");
  command->add_flag("--core", arguments->core, "with a small core in the bundle, as jtrace core --small writes it");
  command->add_flag("--anonymize", arguments->anonymize,
                    "replace names of host, user, home and working folder, and IPv4 addresses, in the bundle");
  command->add_option("--format", arguments->inspect.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  add_time(*command, "--interval", arguments->interval, "time between two of the three samples (1s)",
           {.least = std::chrono::milliseconds(200), .most = std::chrono::minutes(1)});
  add_max_stop(*command, arguments->inspect, "longest single stop (50ms)");
  command->add_option("--sysroot", arguments->inspect.files.sysroot,
                      "for a core: the folder below which mapped files are searched");
  command->add_option("--libjvm", arguments->inspect.files.libjvm,
                      "for a core: the libjvm.so that the process had mapped");
  command->add_flag("--watch", arguments->watch,
                    "wait until something is found, or --when holds, then make the bundle and end");
  command
      ->add_option("--when", arguments->when,
                   "what to wait for: 'rss > 1500M', 'group > 90%' (of the control group's memory limit), or a "
                   "condition of hsperf check")
      ->type_name("CONDITION");
  add_time(*command, "--every", arguments->every, "time between two looks (60s; with --when 1s)",
           {.least = std::chrono::milliseconds(100), .most = std::chrono::hours(24)});
  command->footer(
      "Nothing is loaded into the JVM, and it need not respond.\n"
      "Status 0: nothing found; 1: something found; 9: nothing found, and not everything could be examined.\n"
      "Example: jtrace diagnose 4711 -o app.zip && jtrace inspect app.zip threads");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
