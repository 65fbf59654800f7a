// jtrace probe PID PROBE...: a trace through USDT probes, until the duration, Ctrl-C or the JVM's end.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/child_jobs.h"
#include "base/strings.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/output_name.h"
#include "cli/selector.h"
#include "cli/shipped_output.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "dtrace/trace/probe_run.h"

namespace jtrace::cli {
namespace {

constexpr std::uint64_t kDefaultRing = 16u << 20;

struct ProbeArguments {
  std::vector<std::string> words;  // PID PROBE..., or PROBE... and what comes after "--"
  std::vector<std::string> none;
  std::string output, ship, duration, max_size, ring_memory;
  std::vector<std::string> filters;
  std::uint64_t count = 0;
  std::string back_end = "auto";
  bool summary = false, enable_flags = false, count_methods = false, stacks = false;
};

// The number of words after "--" on jtrace's command line: CLI11 does not distinguish positional words.
std::size_t count_words_after_dashes() {
  std::FILE* file = std::fopen("/proc/self/cmdline", "re");
  if (file == nullptr) return 0;
  std::string text;
  char buffer[4096];
  for (std::size_t size; (size = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, size);
  std::fclose(file);
  const auto words = split(text, '\0');
  const auto dashes = std::find(words.begin(), words.end(), std::string_view("--"));
  if (dashes == words.end()) return 0;
  return static_cast<std::size_t>(words.end() - dashes) - 2;  // the text ends with a NUL
}

Result<session::TraceOptions> options_of(const ProbeArguments& arguments) {
  session::OptionReader reader;
  const auto give = [&](std::string_view name, const std::string& value) {
    return value.empty() ? Result<>() : reader.give(name, value);
  };
  JTRACE_RETURN_IF_ERROR(give("output", arguments.ship.empty() ? arguments.output : "-"));
  JTRACE_RETURN_IF_ERROR(give("duration", arguments.duration));
  JTRACE_RETURN_IF_ERROR(give("max-size", arguments.max_size));
  JTRACE_RETURN_IF_ERROR(give("ring-memory", arguments.ring_memory));
  for (const std::string& filter : arguments.filters) JTRACE_RETURN_IF_ERROR(reader.give("filter", filter));
  JTRACE_ASSIGN_OR_RETURN(session::TraceOptions options, reader.finish());
  if (arguments.ring_memory.empty()) options.ring_memory = kDefaultRing;
  return options;
}

dtrace::BackEnd back_end_of(const std::string& word) {
  for (const auto back_end : {dtrace::BackEnd::kUprobeMulti, dtrace::BackEnd::kPerfBpf, dtrace::BackEnd::kPerf})
    if (word == to_string(back_end)) return back_end;
  return dtrace::BackEnd::kAutomatic;
}

// The messages at the end of a trace.
void report_end(const dtrace::ProbeTraceSummary& summary, pid_t pid) {
  using dtrace::ProbeEnd;
  const std::string name = "JVM " + std::to_string(pid);
  if (summary.end == ProbeEnd::kTargetEnded) log_info(name + " ended");
  if (summary.end == ProbeEnd::kTargetChanged) log_info(name + " has become another program");
  const auto warn_of = [](std::uint64_t count, std::string_view one, const std::string& what) {
    if (count != 0) log_warning(counted(count, one) + what);
  };
  const dtrace::EventCounts& counts = summary.counts;
  warn_of(summary.lost, "hit", " " + was_were(summary.lost) + " lost: --ring-memory makes room");
  warn_of(counts.missing_texts, "text", " could not be read");
  warn_of(counts.cut_texts, "text", " " + was_were(counts.cut_texts) + " cut");
  warn_of(summary.cut_stacks, "stack", " could not be followed to the end (\"...\")");
  if (counts.exits_without_entry != 0)
    log_info(counted(counts.exits_without_entry, "method") + " " + was_were(counts.exits_without_entry) +
             " left that had been entered before");
  if (counts.without_element != 0 && summary.table.empty())
    log_info(std::to_string(counts.without_element) + " hits have no element in the trace; --summary counts them");
  const bool on_stdout = summary.path == "-";
  std::fwrite(summary.table.data(), 1, summary.table.size(), on_stdout ? stderr : stdout);
  warn_of(counts.unknown_methods, "hit",
          " " + is_are(counts.unknown_methods) + " of methods of which no more is known");
  char text[64];
  std::snprintf(text, sizeof text, "probes taken out in %.0f ms", static_cast<double>(summary.taking_out) / 1e6);
  log_info(text);
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(summary.duration) / 1e9);
  log_info(counted(counts.taken, "hit") + ", " + counted(summary.elements, "element") + " in " + text +
           (on_stdout ? "" : " -> " + summary.path));
}

ExitStatus finish(const Result<dtrace::ProbeTraceSummary>& summary, pid_t pid,
                  const std::unique_ptr<ShippedOutput>& shipped) {
  if (!summary) return abandon_shipping(shipped, report(summary.error()));
  report_end(*summary, pid);
  return finish_shipping(shipped, summary->error ? report(*summary->error) : summary->status());
}

dtrace::ProbeRequest request_of(const ProbeArguments& arguments, const session::TraceOptions& options,
                                std::vector<std::string> probes, std::optional<ScopedCancel>& cancel) {
  return {.probes = std::move(probes),
          .options = options,
          .back_end = back_end_of(arguments.back_end),
          .count = arguments.count,
          .summary = arguments.summary,
          .enable_flags = arguments.enable_flags,
          .count_methods = arguments.count_methods,
          .stacks = arguments.stacks,
          .begin_cancel = [&cancel] { return cancel.emplace().fd(); },
          .report = [](LogLevel level, const std::string& line) { log(level, line); }};
}

ExitStatus trace_running(const ProbeArguments& arguments, const session::TraceOptions& options, std::string_view jvm,
                         std::vector<std::string> probes) {
  const auto process = open_selected(jvm);
  if (!process) return report(process.error());
  const auto shipped = ShippedOutput::start(arguments.ship);
  if (!shipped) return report(shipped.error());
  std::optional<ScopedCancel> cancel;
  return finish(dtrace::trace_running(*process, request_of(arguments, options, std::move(probes), cancel)),
                process->pid(), *shipped);
}

ExitStatus trace_launched(const ProbeArguments& arguments, const session::TraceOptions& options,
                          std::size_t after_dashes) {
  const auto first = arguments.words.end() - static_cast<std::ptrdiff_t>(after_dashes);
  std::optional<ScopedCancel> cancel;
  const auto request = request_of(arguments, options, {arguments.words.begin(), first}, cancel);
  const auto shipped = ShippedOutput::start(arguments.ship);
  if (!shipped) return report(shipped.error());
  pid_t pid = 0;
  const auto summary = dtrace::trace_launched({first, arguments.words.end()}, request, pid);
  return finish(summary, pid, *shipped);
}

ExitStatus trace_several(const ProbeArguments& arguments, const session::TraceOptions& options,
                         const std::vector<pid_t>& pids, const std::vector<std::string>& probes) {
  const ScopedCancel cancel;
  const auto statuses = run_in_children(
      pids.size(), [&](std::size_t i) { return trace_running(arguments, options, std::to_string(pids[i]), probes); },
      cancel.fd());
  return statuses ? combined_status(*statuses) : report(statuses.error());
}

// 4711, or 4711,4712: no probe has such a name.
bool are_numbers(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789,") == word.npos;
}

// The words before the probes, each a list of JVMs; the first may be names.
ExitStatus trace_selected(const ProbeArguments& arguments, const session::TraceOptions& options) {
  const auto probe = std::find_if_not(arguments.words.begin() + 1, arguments.words.end(), are_numbers);
  const std::vector<std::string> probes(probe, arguments.words.end());
  std::string selectors;
  for (auto word = arguments.words.begin(); word != probe; ++word) selectors += (selectors.empty() ? "" : ",") + *word;
  if (!options.output.empty() && (selectors.find(',') != selectors.npos || selects_all(selectors)))
    return report({.category = ErrorCategory::kUsage,
                   .text = arguments.ship.empty() ? "-o names one file, and these are several JVMs"
                                                  : "--ship sends the trace of one JVM, and these are several",
                   .help = "without it each gets its jtrace-PID.xml"});
  if (selects_all(selectors) && arguments.enable_flags)
    return report({.category = ErrorCategory::kUsage,
                   .text = "--enable-flags would change each JVM of this machine",
                   .help = "name those that it may change"});
  const auto pids = select_jvms(selectors);
  if (!pids) return report(pids.error());
  if (pids->size() == 1) return trace_running(arguments, options, std::to_string(pids->front()), probes);
  return trace_several(arguments, options, *pids, probes);
}

ExitStatus run(const ProbeArguments& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  if (!arguments.ship.empty() && !arguments.output.empty()) return report(ships_instead_of_output());
  const auto options = options_of(arguments);
  if (!options) return report(options.error());
  const std::size_t after_dashes = count_words_after_dashes();
  if (after_dashes != 0 && arguments.enable_flags)
    return report({.category = ErrorCategory::kUsage,
                   .text = "--enable-flags is for a JVM that runs",
                   .help = "give java the flags: -XX:+DTraceMethodProbes, ..."});
  if (after_dashes != 0 && after_dashes <= arguments.words.size())
    return trace_launched(arguments, *options, after_dashes);
  return trace_selected(arguments, *options);
}

}  // namespace

void add_probe_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProbeArguments>();
  CLI::App* command = app.add_subcommand("probe", summary_of("probe"));
  command
      ->add_option(
          "PID|PROBE", arguments->words,
          "a JVM (process id or part of the main class; several with commas, or all), then probes: names, globs, "
          "providers; without probes threads, classes, GC, monitors. Or probes, then -- and a java command to start")
      ->required();
  // Never filled: as long as a positional word may come, CLI11 passes the words after "--" to this command.
  command->add_option("COMMAND", arguments->none)->group("");
  command->add_option("-o,--output", arguments->output, "file; -: standard output (default jtrace-PID.xml)")
      ->check(wrong_trace_name);
  add_ship_option(*command, arguments->ship);
  command->add_option("--duration", arguments->duration, "stop after this time (30s, 5m); without it at Ctrl-C")
      ->type_name("TIME")
      ->check(is_time());
  command->add_option("--count", arguments->count, "stop after this many hits");
  command
      ->add_option("--filter", arguments->filters,
                   "'CLASS-PATTERN [METHOD-PATTERN] [include|exclude]'; the first rule that matches decides")
      ->type_name("RULE");
  command->add_option("--max-size", arguments->max_size, "end the trace at this size of the output")
      ->type_name("SIZE")
      ->check(is_size());
  command
      ->add_option("--ring-memory", arguments->ring_memory, "memory for hits that are not written yet (default: 16M)")
      ->type_name("SIZE")
      ->check(is_size());
  command->add_option("--backend", arguments->back_end, "auto: the first that works")
      ->check(one_of({"auto", "uprobe_multi", "perf_bpf", "perf"}));
  command->add_flag("--enable-flags", arguments->enable_flags,
                    "switch the flags of method, allocation and monitor probes on in the running JVM, and off again at "
                    "the end");
  command->add_flag(
      "--count-methods", arguments->count_methods,
      "method__entry: count in the kernel how often each method ran (methodCount), without an event for each call");
  command->add_flag(
      "--stack", arguments->stacks,
      "record the stack of each hit, Java and native frames; for rare probes (48 KiB are copied for each)");
  command->add_flag("--summary", arguments->summary, "print a table of all probes, with durations, at the end");
  command->footer("Example: jtrace probe 4711 'gc__*' 'monitor__*' -o trace.xml --duration 10");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
