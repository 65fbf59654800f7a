#include "cli/brief_trace.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/jdk_names.h"
#include "base/strings.h"
#include "base/temporary_file.h"
#include "base/time_text.h"
#include "cli/output_name.h"
#include "cli/overwriting.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/trace_input.h"
#include "session/attach_trace.h"
#include "session/left_pools.h"
#include "trace/methods_with_callouts.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

// Excluded unless a filter is given: these classes are rarely of interest, and rewriting them would take longest.
constexpr const char* kNotAsked[] = {"java.* exclude", "javax.* exclude",   "jdk.* exclude",
                                     "sun.* exclude",  "com.sun.* exclude", "jtrace.* exclude"};

using Answer = std::function<std::string(const io::Statistics&, const std::string&)>;
using GiveOptions = std::function<Result<>(session::OptionReader&, bool)>;

constexpr std::uint64_t kCloserLook = 3'000'000'000;  // ns: how long it takes at most

Result<session::TraceOptions> trace_options(const BriefTrace& arguments, const std::string& output,
                                            const GiveOptions& give, bool closer) {
  session::OptionReader reader;
  JTRACE_RETURN_IF_ERROR(reader.give("output", output));
  JTRACE_RETURN_IF_ERROR(reader.give("duration", arguments.duration));
  JTRACE_RETURN_IF_ERROR(give(reader, closer));
  for (const std::string& filter : arguments.filters) JTRACE_RETURN_IF_ERROR(reader.give("filter", filter));
  if (arguments.filters.empty() && arguments.leaves_out_jdk)
    for (const char* filter : kNotAsked) JTRACE_RETURN_IF_ERROR(reader.give("filter", filter));
  return reader.finish();
}

// Whether an event is of a method that is not of the JDK.
bool names_own_methods(const io::Statistics& statistics) {
  const auto is_own = [](const io::Scope& scope) {
    return std::any_of(scope.methods.begin(), scope.methods.end(),
                       [&](const auto& method) { return !is_of_the_jdk(scope.class_name(method.second.class_id)); });
  };
  const auto& scopes = statistics.by_scope();
  return std::any_of(scopes.begin(), scopes.end(),
                     [&](const auto& each) { return each.scope != nullptr && is_own(*each.scope); });
}

// A warning if no method may have callouts because of the filters; "": some have. Known of the classes that were loaded
// when the trace began, not of later ones. Of the methods that have callouts, `own` may be the command's.
std::string lack_of_callouts(const io::Statistics& statistics, std::size_t own) {
  std::optional<std::uint64_t> most;
  for (const io::ScopeStatistics& each : statistics.by_scope())
    if (each.scope != nullptr && each.scope->methods_with_callouts)
      most = std::max(most.value_or(0), *each.scope->methods_with_callouts);
  if (!most || *most > own || names_own_methods(statistics)) return {};
  if (*most == 0) return std::string(trace::kNoCallouts);
  return counted(*most, "method") + " of classes that were loaded " + (*most == 1 ? "has" : "have") +
         " callouts, and as many may be of the JDK, which this command adds: the filters may select none";
}

void report_end_of_jvm(const session::TraceSummary& summary, pid_t pid) {
  const std::string jvm = "JVM " + std::to_string(pid);
  if (summary.target_killed) log_warning(jvm + " " + summary.death);
  else if (summary.reason == session::EndReason::kTargetEnded) log_info(jvm + " ended before --duration was over");
  if (!summary.agent_left) log_warning("the agent did not answer: " + jvm + " gets rid of it when it sees our end");
}

// Of a filter that may be meant as a method: "shop.Order.pay".
std::string hint_of_method(const std::vector<std::string>& filters) {
  for (const std::string& filter : filters) {
    const std::size_t dot = filter.rfind('.');
    if (dot == filter.npos || filter.find_first_of(" *") != filter.npos) continue;
    if (dot + 1 < filter.size() && filter[dot + 1] >= 'a' && filter[dot + 1] <= 'z')
      return "; a method is a word of its own: --filter '" + filter.substr(0, dot) + " " + filter.substr(dot + 1) + "'";
  }
  return {};
}

// `jvm`: whose trace was just made; null: the input was there. `losses_reported`: of that trace. Nothing, and no line:
// a closer look is wanted.
std::optional<ExitStatus> print(const std::string& input, const std::string& name, const Answer& answer,
                                const BriefTrace& traced, const target::Process* jvm = nullptr,
                                bool losses_reported = false) {
  io::FaultLog faults = warnings(false);
  io::Statistics statistics;
  const auto opened = open_parts({input}, faults, {});
  if (!opened) return report(opened.error());
  const auto summary = opened->source->read(statistics);
  if (!summary) return report(summary.error());
  if (Result<> finished = statistics.finish(); !finished) return report(finished.error());
  if (traced.wants_closer_look && traced.wants_closer_look(statistics)) return std::nullopt;
  note_missing(statistics, *summary, opened->missing);
  if (const std::string lack = lack_of_callouts(statistics, traced.filters.empty() ? 0 : traced.own_methods);
      !lack.empty())
    log_warning(name + ": " + lack + hint_of_method(traced.filters));
  if (jvm != nullptr) statistics.set_traced_jvm({jvm->pid(), jvm->nspid(), /*keeps_trace=*/!traced.output.empty()});
  const io::Losses losses = statistics.losses();
  const std::string out = answer(statistics, name);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return report_input(name, *summary, faults,
                      {.losses = {losses_reported ? 0 : losses.events, losses.lacks_end}, .parts = opened->missing});
}

Result<session::TraceSummary> trace(const target::Process& process, const session::TraceOptions& options) {
  session::AttachTraceOptions attach;
  if (const char* agent = std::getenv("JTRACE_AGENT")) attach.agent_path = agent;
  attach.started = [&](const std::string&) {
    log_info("tracing JVM " + std::to_string(process.pid()) + " for " + duration_text(options.duration.value_or(0)) +
             "; Ctrl-C ends it");
  };
  const ScopedCancel cancel;
  attach.signal_fd = cancel.fd();
  return session::trace_process(process, options, attach);
}

}  // namespace

void add_brief_trace(CLI::App& command, BriefTrace& arguments) {
  arguments.command = &command;
  command
      .add_option("PID|IN", arguments.target,
                  "pid or a part of the main class; or a trace (a file, or a path with '/')")
      ->required();
  command.add_option("--duration", arguments.duration, "how long to trace (10s)")->type_name("TIME");
  command
      .add_option(
          "--filter", arguments.filters,
          arguments.leaves_out_jdk
              ? "'CLASS-PATTERN [METHOD-PATTERN] [include|exclude]', as of jtrace attach (the JDK's classes left out)"
              : "each object that these methods make, as --events allocations (default: samples of all of them)")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("-o,--output", arguments.output, "keep the trace here")
      ->type_name("FILE")
      ->check(wrong_trace_name);
}

namespace {

// Options of the commands; --over, --messages and others choose what of a trace is shown.
constexpr const char* kHowToTrace[] = {"--duration", "--io", "--cpu-time", "--sample-interval", "--no-arguments"};

ExitStatus answer_from_input(const BriefTrace& arguments, const Answer& answer) {
  if (const Result<> good = refuse_overwriting(arguments.output, {arguments.target}); !good)
    return report(good.error());
  if (!arguments.output.empty())
    return report(Error{ErrorCategory::kUsage, "-o keeps the trace of a JVM: " + arguments.target + " is one already"});
  if (!arguments.filters.empty())
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = "--filter chooses what of a JVM is traced: " + arguments.target + " is a trace already",
                        .help = "jtrace sql FILE answers for single methods"});
  for (const char* name : kHowToTrace)
    if (const CLI::Option* option = arguments.command->get_option_no_throw(name);
        option != nullptr && option->count() != 0)
      return report(Error{ErrorCategory::kUsage,
                          std::string(name) + " is for tracing a JVM: " + arguments.target + " is a trace already"});
  return *print(arguments.target, arguments.target, answer, BriefTrace());
}

// Traces the JVM and prints the answer. Nothing: a closer look is wanted.
std::optional<ExitStatus> answer_from_jvm(const BriefTrace& arguments, const target::Process& process,
                                          const std::string& path, const session::TraceOptions& options,
                                          const Answer& answer) {
  const auto summary = trace(process, options);
  if (!summary) return report(summary.error());
  report_end_of_jvm(*summary, process.pid());
  if (summary->dropped != 0)
    log_warning(counted(summary->dropped, "event") + " " + was_were(summary->dropped) +
                " lost: --filter with fewer classes loses none");
  if (summary->error) log_error(summary->error->message());
  std::error_code unknown;
  if (summary->error && !std::filesystem::is_regular_file(path, unknown)) return summary->status();  // nothing to read
  BriefTrace asked = arguments;
  if (!arguments.output.empty() || summary->reason != session::EndReason::kDuration) asked.wants_closer_look = nullptr;
  const bool is_kept = !arguments.output.empty();
  const auto printed = print(path, is_kept ? path : arguments.target, answer, asked, &process, summary->dropped != 0);
  return summary->status() != ExitStatus::kOk ? summary->status() : printed;
}

}  // namespace

ExitStatus answer_from_trace(const BriefTrace& arguments, const std::string& kind, const GiveOptions& give,
                             const Answer& answer) {
  if (names_input(arguments.target)) return answer_from_input(arguments, answer);
  std::optional<TemporaryFile> temporary;
  if (arguments.output.empty()) {
    auto made = TemporaryFile::make(kind, "trace.xml");
    if (!made) return report(made.error());
    temporary.emplace(std::move(*made));
  }
  const std::string path = temporary ? temporary->path() : arguments.output;
  auto options = trace_options(arguments, path, give, false);
  if (!options) return report(options.error());
  auto process = open_selected(arguments.target, Takes::kJvmOrFile);
  if (!process) return report(process.error());
  if (arguments.check) {
    const auto jvm = target::examine_jvm(*process);
    // What is no JVM is refused below, with more reasons.
    if (const Result<> good = jvm ? arguments.check(*jvm) : Result<>(); !good) return report(good.error());
  }
  if (const std::string note = session::note_of_left_pools(*process); !note.empty()) log_info(note);
  ::signal(SIGPIPE, SIG_IGN);
  if (const auto status = answer_from_jvm(arguments, *process, path, *options, answer)) return *status;
  options = trace_options(arguments, path, give, true);
  if (!options) return report(options.error());
  options->duration = std::min(options->duration.value_or(kCloserLook), kCloserLook);
  BriefTrace last = arguments;
  last.wants_closer_look = nullptr;
  return *answer_from_jvm(last, *process, path, *options, answer);
}

}  // namespace jtrace::cli
