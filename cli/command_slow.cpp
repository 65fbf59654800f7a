// jtrace slow PID|IN: the calls that took long, and what they waited for, in a JVM that is traced for a while, or in a
// trace.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/temporary_file.h"
#include "cli/trace_input.h"
#include "session/attach_trace.h"
#include "session/options/time_text.h"
#include "trace/io/slow_text.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

constexpr std::uint64_t kLeastCoarse = 10'000'000;  // ns; for shorter times the precise clock is used
// Excluded unless a filter is given: these classes are rarely of interest, and rewriting them would cost most.
constexpr const char* kNotAsked[] = {"java.* exclude", "javax.* exclude",   "jdk.* exclude",
                                     "sun.* exclude",  "com.sun.* exclude", "jtrace.* exclude"};

struct SlowArguments {
  std::string target;
  std::string over = "200ms", duration = "10s";
  std::vector<std::string> filters;
  bool no_arguments = false;
  std::string output;
  std::string format = "text";
  std::size_t rows = 20;
};

// An existing file, or anything with a '/', is a trace.
bool is_trace(const std::string& word) {
  return word == "-" || word.find('/') != std::string::npos || ::access(word.c_str(), F_OK) == 0;
}

// Calls that took a quarter of it are recorded too, so that there is something to show if no call was slow.
std::uint64_t recorded_from(std::uint64_t over) {
  return over < kLeastCoarse ? over : std::max(over / 4, kLeastCoarse);
}

std::string millis(std::uint64_t ns) { return std::to_string(static_cast<double>(ns) / 1e6) + "ms"; }

Result<session::TraceOptions> trace_options(const SlowArguments& arguments, std::uint64_t over,
                                            const std::string& output) {
  session::OptionReader reader;
  JTRACE_RETURN_IF_ERROR(reader.give("file", output));
  JTRACE_RETURN_IF_ERROR(reader.give("duration", arguments.duration));
  JTRACE_RETURN_IF_ERROR(reader.give("events", "methods,gc,monitors,sleeps,parks,threads"));
  JTRACE_RETURN_IF_ERROR(reader.give_flag("monitor-owner"));
  JTRACE_RETURN_IF_ERROR(reader.give("slower-than", millis(recorded_from(over))));
  if (over < kLeastCoarse) JTRACE_RETURN_IF_ERROR(reader.give("time", "precise"));
  for (const std::string& filter : arguments.filters) JTRACE_RETURN_IF_ERROR(reader.give("filter", filter));
  if (arguments.filters.empty())
    for (const char* filter : kNotAsked) JTRACE_RETURN_IF_ERROR(reader.give("filter", filter));
  // Arguments cost in quick calls too, so they are read only with filters.
  if (!arguments.filters.empty() && !arguments.no_arguments) JTRACE_RETURN_IF_ERROR(reader.give_flag("arguments"));
  return reader.finish();
}

ExitStatus print(const SlowArguments& arguments, std::uint64_t over, const std::vector<std::string>& inputs,
                 const std::string& name) {
  io::FaultLog faults = warnings(false);
  io::Statistics statistics;
  const auto opened = open_parts(inputs, faults, {});
  if (!opened) return report(opened.error());
  const auto summary = opened->source->read(statistics);
  if (!summary) return report(summary.error());
  if (Result<> finished = statistics.finish(); !finished) return report(finished.error());
  const io::SlowLimits limits{.over = over, .rows = arguments.rows};
  const std::string out =
      arguments.format == "json" ? io::slow_json(statistics, name, limits) : io::slow_text(statistics, limits);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return report_input(name, *summary, faults);
}

ExitStatus trace_and_print(const SlowArguments& arguments, std::uint64_t over) {
  std::optional<TemporaryFile> temporary;
  if (arguments.output.empty()) {
    auto made = TemporaryFile::make("slow", "trace.xml");
    if (!made) return report(made.error());
    temporary.emplace(std::move(*made));
  }
  const std::string path = temporary ? temporary->path() : arguments.output;
  const auto options = trace_options(arguments, over, path);
  if (!options) return report(options.error());
  auto process = open_selected(arguments.target);
  if (!process) return report(process.error());
  ::signal(SIGPIPE, SIG_IGN);
  session::AttachTraceOptions attach;
  if (const char* agent = std::getenv("JTRACE_AGENT")) attach.agent_path = agent;
  attach.started = [&](const std::string&) {
    log_info("tracing JVM " + std::to_string(process->pid()) + " for " + arguments.duration + "; Ctrl-C ends it");
  };
  Result<session::TraceSummary> summary = [&] {
    const ScopedCancel cancel;
    attach.signal_fd = cancel.fd();
    return session::trace_process(*process, *options, attach);
  }();
  if (!summary) return report(summary.error());
  if (summary->dropped != 0)
    log_warning(std::to_string(summary->dropped) + " events were lost: --filter with fewer classes loses none");
  const ExitStatus printed = print(arguments, over, {path}, temporary ? arguments.target : path);
  return summary->status() != ExitStatus::kOk ? summary->status() : printed;
}

ExitStatus run(const SlowArguments& arguments) {
  const auto over = session::parse_seconds(arguments.over);
  if (!over || *over == 0)
    return report(Error{ErrorCategory::kUsage, "--over: '" + arguments.over + "' is not a time (200ms, 0.5, 5m)"});
  if (is_trace(arguments.target)) return print(arguments, *over, {arguments.target}, arguments.target);
  return trace_and_print(arguments, *over);
}

}  // namespace

void add_slow_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<SlowArguments>();
  CLI::App* command =
      app.add_subcommand("slow", "which calls took long, what they waited for, which callee took the time");
  command
      ->add_option("PID|IN", arguments->target,
                   "pid or a part of the main class; or a trace (a file, or a path with '/')")
      ->required();
  command->add_option("--over", arguments->over, "calls of this time and more (200ms); without any, the slowest seen")
      ->type_name("TIME");
  command->add_option("--duration", arguments->duration, "trace so long (10s)")->type_name("TIME");
  command
      ->add_option(
          "--filter", arguments->filters,
          "'CLASS-PATTERN [[METHOD-PATTERN] include|exclude]', as of jtrace attach (the JDK's classes left out)")
      ->type_name("RULE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--no-arguments", arguments->no_arguments,
                    "do not read arguments (read where --filter is given: they cost in quick calls too)");
  command->add_option("-o,--output", arguments->output, "keep the trace here")->type_name("FILE");
  command->add_option("--format", arguments->format, "text or json")->check(one_of({"text", "json"}));
  command->add_option("--rows", arguments->rows, "rows of each table (20)");
  command->footer("Example: jtrace slow 4711 --over 200ms --filter 'com.example.*'");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
