// jtrace probe PID PROBE...: a trace through USDT probes, until the duration, Ctrl-C or the JVM's end.
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/probe_trace.h"
#include "cli/selector.h"
#include "dtrace/flag_switch.h"
#include "dtrace/launch.h"
#include "dtrace/traced_sites.h"

namespace jtrace::cli {
namespace {

constexpr std::uint64_t kDefaultRing = 16u << 20;
constexpr std::string_view kDefaultProbes[] = {"thread__start",
                                               "thread__stop",
                                               "class__loaded",
                                               "class__unloaded",
                                               "gc__begin",
                                               "gc__end",
                                               "vm__init__end",
                                               "vm__shutdown",
                                               "monitor__wait",
                                               "monitor__waited",
                                               "monitor__contended__enter",
                                               "monitor__contended__entered"};

struct ProbeArguments {
  std::vector<std::string> words;  // PID PROBE..., or PROBE... and what stands after "--"
  std::vector<std::string> none;
  std::string output, duration, max_size, ring_memory;
  std::vector<std::string> filters;
  std::uint64_t count = 0;
  std::string back_end = "auto";
  bool summary = false, enable_flags = false, count_methods = false, stacks = false;
};

// The words after "--" of our own command line: CLI11 gives all positional words alike.
std::size_t words_behind_dashes() {
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
  JTRACE_RETURN_IF_ERROR(give("file", arguments.output));
  JTRACE_RETURN_IF_ERROR(give("duration", arguments.duration));
  JTRACE_RETURN_IF_ERROR(give("max-size", arguments.max_size));
  JTRACE_RETURN_IF_ERROR(give("ring-memory", arguments.ring_memory));
  for (const std::string& filter : arguments.filters) JTRACE_RETURN_IF_ERROR(reader.give("filter", filter));
  JTRACE_ASSIGN_OR_RETURN(session::TraceOptions options, reader.finish());
  if (arguments.ring_memory.empty()) options.ring_memory = kDefaultRing;
  return options;
}

Result<std::vector<const dtrace::Probe*>> probes_of(const dtrace::Libjvm& libjvm,
                                                    const std::vector<std::string>& words) {
  if (libjvm.probes.empty()) return fail(dtrace::no_probes(libjvm));
  std::vector<const dtrace::Probe*> chosen;
  std::vector<std::string> wanted(words);
  if (words.empty()) wanted.assign(std::begin(kDefaultProbes), std::end(kDefaultProbes));
  for (const std::string& word : wanted) {
    JTRACE_ASSIGN_OR_RETURN(const auto some, dtrace::select_probes(libjvm.probes, word));
    for (const dtrace::Probe* probe : some)
      if (std::find(chosen.begin(), chosen.end(), probe) == chosen.end()) chosen.push_back(probe);
  }
  return chosen;
}

// The flags that some of the probes need and that are off; refused where none of the probes would fire without them.
Result<std::vector<std::string>> flags_that_are_off(const dtrace::Libjvm& libjvm,
                                                    const std::vector<const dtrace::Probe*>& chosen, bool asked_for,
                                                    bool enable) {
  std::vector<std::string> flags;
  std::string names, words;
  std::size_t off = 0;
  for (const dtrace::Probe* probe : chosen) {
    if (libjvm.enabled(*probe).value_or(true)) continue;
    ++off;
    names += (names.empty() ? "" : ", ") + probe->name;
    const std::string flag(probe->description.flag);
    if (std::find(flags.begin(), flags.end(), flag) != flags.end()) continue;
    flags.push_back(flag);
    words += (words.empty() ? "-XX:+" : " -XX:+") + flag;
  }
  if (off == 0 || enable) return flags;
  const std::string help = "start java with " + words + ", or let --enable-flags switch them on";
  if (off == chosen.size())
    return fail(ErrorCategory::kRefused, "these probes are off in this JVM and would never fire: " + names, help);
  if (asked_for) log_warning("off in this JVM, they will not fire: " + names + "; " + help);
  return std::vector<std::string>();
}

// Switches on what is off and asked for, and shares what another trace of ours has switched on.
Result<std::optional<dtrace::FlagSwitch>> switch_flags_on(const target::Process& process, const dtrace::Libjvm& libjvm,
                                                          const std::vector<const dtrace::Probe*>& chosen,
                                                          const std::vector<std::string>& off) {
  std::vector<std::string> needed(off);
  for (const dtrace::Probe* probe : chosen) {
    const std::string flag(probe->description.flag);
    const bool is_new = std::find(needed.begin(), needed.end(), flag) == needed.end();
    if (is_new && libjvm.enabled(*probe).value_or(false) && libjvm.flags.contains(flag)) needed.push_back(flag);
  }
  if (needed.empty()) return std::optional<dtrace::FlagSwitch>();
  JTRACE_ASSIGN_OR_RETURN(const auto limits, dtrace::limits_of_switching(libjvm, off));
  for (const std::string& line : limits) log_warning(line);
  JTRACE_ASSIGN_OR_RETURN(auto switched, dtrace::FlagSwitch::take(process, libjvm, needed, !off.empty()));
  std::string names;
  for (const std::string& flag : switched.flags()) names += (names.empty() ? "" : ", ") + flag;
  if (!names.empty()) log_info("switched on until the last trace of it ends: " + names);
  return std::optional(std::move(switched));
}

// The sites to trace. `--stack` with nothing but method probes is refused: they are no rare probes.
Result<std::vector<dtrace::TracedSite>> sites_of(const dtrace::Libjvm& libjvm,
                                                 const std::vector<const dtrace::Probe*>& chosen,
                                                 const ProbeArguments& arguments) {
  auto sites = dtrace::sites_to_trace(libjvm.probes, chosen, arguments.count_methods, arguments.stacks);
  if (arguments.stacks && std::none_of(sites.begin(), sites.end(), [](const auto& site) { return site.copies_stack; }))
    return fail(ErrorCategory::kUsage, "--stack is for rare probes, and method probes are none",
                "methodEntry and methodExit tell the stack by themselves");
  for (const std::string& line : dtrace::unreadable_operands(sites)) log_warning(line);
  return sites;
}

dtrace::BackEnd back_end_of(const std::string& word) {
  for (const auto back_end : {dtrace::BackEnd::kUprobeMulti, dtrace::BackEnd::kPerfBpf, dtrace::BackEnd::kPerf})
    if (word == to_string(back_end)) return back_end;
  return dtrace::BackEnd::kAutomatic;
}

Result<std::unique_ptr<dtrace::ProbeSource>> open_source(const target::Process& process, const dtrace::Libjvm& libjvm,
                                                         const std::vector<dtrace::TracedSite>& sites,
                                                         const ProbeArguments& arguments,
                                                         const session::TraceOptions& options) {
  const std::uint64_t before = monotonic_ns();
  JTRACE_ASSIGN_OR_RETURN(
      auto source,
      dtrace::ProbeSource::open(process, libjvm, sites, {back_end_of(arguments.back_end), options.ring_memory}));
  char time[32];
  std::snprintf(time, sizeof time, "%.0f ms", static_cast<double>(monotonic_ns() - before) / 1e6);
  log_info("tracing " + std::to_string(sites.size()) + " sites by " + std::string(to_string(source->back_end())) +
           ", set in " + time + (source->reason().empty() ? "" : " (" + source->reason() + ")"));
  return source;
}

// Null, with a warning, where the JVM's tables cannot be read.
std::unique_ptr<dtrace::VmFacts> facts_of(const target::Process& process) {
  auto facts = dtrace::VmFacts::open(process.pid());
  if (facts) return std::move(*facts);
  log_warning("threads and classes that are there already are told by their names alone: " + facts.error().message());
  return nullptr;
}

// Virtual threads came with 21 (19 and 20: on request).
bool has_virtual_threads(const dtrace::Libjvm& libjvm) { return libjvm.feature == 0 || libjvm.feature >= 19; }

Result<ExitStatus> trace_running(const ProbeArguments& arguments, const session::TraceOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, open_selected(arguments.words.front()));
  JTRACE_ASSIGN_OR_RETURN(const dtrace::Libjvm libjvm, dtrace::libjvm_of_process(process));
  if (libjvm.flag_error) log_warning(libjvm.flag_error->message());
  const std::vector<std::string> words{arguments.words.begin() + 1, arguments.words.end()};
  JTRACE_ASSIGN_OR_RETURN(const auto chosen, probes_of(libjvm, words));
  JTRACE_ASSIGN_OR_RETURN(const auto off, flags_that_are_off(libjvm, chosen, !words.empty(), arguments.enable_flags));
  JTRACE_ASSIGN_OR_RETURN(const auto sites, sites_of(libjvm, chosen, arguments));
  const ScopedCancel cancel;
  JTRACE_ASSIGN_OR_RETURN(const auto output, session::TraceOutput::open(options.output_path(process.pid()), options));
  const auto facts = facts_of(process);
  if (arguments.stacks && facts == nullptr)
    return fail(ErrorCategory::kPermission, "--stack needs to read the memory of the JVM",
                "it takes the same user as the JVM's, or CAP_SYS_PTRACE");
  // Before the probes are set: the guard must not hold their descriptors.
  JTRACE_ASSIGN_OR_RETURN(const auto switched, switch_flags_on(process, libjvm, chosen, off));
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(process, libjvm, sites, arguments, options));
  return run_probe_trace(process, *source, sites, *output, options,
                         {.count = arguments.count,
                          .summary = arguments.summary,
                          .facts = facts.get(),
                          .has_carriers = has_virtual_threads(libjvm),
                          .stacks = arguments.stacks},
                         cancel.fd());
}

// Says which probes will not fire in a JVM that is started so.
void warn_of_flags(const std::vector<std::string>& command, const std::vector<const dtrace::Probe*>& chosen) {
  std::string names, words;
  for (const dtrace::Probe* probe : chosen) {
    const std::string flag(probe->description.flag);
    if (flag.empty() || dtrace::switches_on(command, flag) || dtrace::switches_on(command, "ExtendedDTraceProbes"))
      continue;
    names += (names.empty() ? "" : ", ") + probe->name;
    if (words.find(flag) == words.npos) words += (words.empty() ? "-XX:+" : " -XX:+") + flag;
  }
  if (!names.empty()) log_warning("off in this JVM, they will not fire: " + names + "; give java " + words);
}

Result<ExitStatus> trace_launched(const ProbeArguments& arguments, const session::TraceOptions& options,
                                  std::size_t behind) {
  const auto first = arguments.words.end() - static_cast<std::ptrdiff_t>(behind);
  const std::vector<std::string> command(first, arguments.words.end());
  JTRACE_ASSIGN_OR_RETURN(const std::string path, dtrace::libjvm_of_launcher(command.front()));
  JTRACE_RETURN_IF_ERROR(dtrace::check_flags(command, path));
  JTRACE_ASSIGN_OR_RETURN(const dtrace::Libjvm libjvm, dtrace::libjvm_of_file(path));
  JTRACE_ASSIGN_OR_RETURN(const auto chosen, probes_of(libjvm, {arguments.words.begin(), first}));
  if (first != arguments.words.begin()) warn_of_flags(command, chosen);
  JTRACE_ASSIGN_OR_RETURN(const auto sites, sites_of(libjvm, chosen, arguments));
  JTRACE_ASSIGN_OR_RETURN(dtrace::LaunchedProcess launched, dtrace::LaunchedProcess::fork(command));
  const ScopedCancel cancel;
  JTRACE_ASSIGN_OR_RETURN(const target::Process waiting, target::Process::open(launched.pid()));
  JTRACE_ASSIGN_OR_RETURN(const auto output, session::TraceOutput::open(options.output_path(launched.pid()), options));
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(waiting, libjvm, sites, arguments, options));
  JTRACE_RETURN_IF_ERROR(launched.go());
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(launched.pid()));
  return run_probe_trace(
      process, *source, sites, *output, options,
      {.count = arguments.count, .summary = arguments.summary, .starts = true, .stacks = arguments.stacks},
      cancel.fd());
}

bool is_number(const std::string& word) { return !word.empty() && word.find_first_not_of("0123456789") == word.npos; }

// A process for each target: they share nothing, and one that fails or ends leaves the others alone. A signal to us is
// one to all.
Result<ExitStatus> trace_several(const ProbeArguments& arguments, const session::TraceOptions& options,
                                 std::size_t targets) {
  if (!options.output.empty())
    return fail(ErrorCategory::kUsage, "-o names one file, and these are several JVMs",
                "without it each gets its jtrace-PID.xml");
  const ScopedCancel cancel;
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < targets; ++i) {
    const pid_t child = ::fork();
    if (child < 0) return fail(system_error("cannot start a process for a target", arguments.words[i]));
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ProbeArguments own(arguments);
    own.words.erase(own.words.begin(), own.words.begin() + static_cast<std::ptrdiff_t>(targets));
    own.words.insert(own.words.begin(), arguments.words[i]);
    const auto traced = trace_running(own, options);
    const ExitStatus status = traced ? *traced : report(traced.error());
    std::fflush(stdout);
    ::_exit(static_cast<int>(status));
  }
  std::vector<ExitStatus> statuses;
  while (!children.empty()) {
    pollfd wait{cancel.fd(), POLLIN, 0};
    if (::poll(&wait, 1, 50) > 0) {
      signalfd_siginfo taken{};
      [[maybe_unused]] const ssize_t size = ::read(cancel.fd(), &taken, sizeof taken);
      for (const pid_t child : children) ::kill(child, SIGINT);
    }
    std::erase_if(children, [&](pid_t child) {
      int status = 0;
      if (::waitpid(child, &status, WNOHANG) != child) return false;
      statuses.push_back(WIFEXITED(status) ? static_cast<ExitStatus>(WEXITSTATUS(status)) : ExitStatus::kRefused);
      return true;
    });
  }
  return combined_status(statuses);
}

Result<ExitStatus> run(const ProbeArguments& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  JTRACE_ASSIGN_OR_RETURN(const session::TraceOptions options, options_of(arguments));
  const std::size_t behind = words_behind_dashes();
  if (behind != 0 && arguments.enable_flags)
    return fail(ErrorCategory::kUsage, "--enable-flags is for a JVM that runs",
                "give java the flags: -XX:+DTraceMethodProbes, ...");
  if (behind != 0 && behind <= arguments.words.size()) return trace_launched(arguments, options, behind);
  const auto second = std::find_if_not(arguments.words.begin() + 1, arguments.words.end(), is_number);
  const auto targets = static_cast<std::size_t>(second - arguments.words.begin());
  return targets > 1 ? trace_several(arguments, options, targets) : trace_running(arguments, options);
}

}  // namespace

void add_probe_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProbeArguments>();
  CLI::App* command = app.add_subcommand("probe", "trace a JVM through its USDT probes, without an agent");
  command
      ->add_option(
          "PID|PROBE", arguments->words,
          "a JVM (pid or part of its main class; several pids), then probes: names, globs, providers; without probes "
          "threads, classes, GC, monitors. Or probes, then -- and a java command to start")
      ->required();
  // Never filled: as long as a positional word is to come, CLI11 leaves what stands after "--" to this command.
  command->add_option("COMMAND", arguments->none)->group("");
  command->add_option("-o,--output", arguments->output, "file; -: standard output (default jtrace-PID.xml)");
  command->add_option("--duration", arguments->duration, "how long, in seconds or with a unit");
  command->add_option("--count", arguments->count, "ends after so many hits");
  command->add_option("--filter", arguments->filters,
                      "CLASS-PATTERN [METHOD-PATTERN] include|exclude; the first decides");
  command->add_option("--max-size", arguments->max_size, "of the output");
  command->add_option("--ring-memory", arguments->ring_memory, "room for hits that are not yet written (default 16M)");
  command->add_option("--backend", arguments->back_end, "auto: the first that works")
      ->check(CLI::IsMember({"auto", "uprobe_multi", "perf_bpf", "perf"}));
  command->add_flag("--enable-flags", arguments->enable_flags,
                    "switch the flags of method, allocation and monitor probes on in the running JVM, and off again at "
                    "the end");
  command->add_flag("--count-methods", arguments->count_methods,
                    "method__entry: count in the kernel how often each method ran (methodCount), no event for each");
  command->add_flag("--stack", arguments->stacks,
                    "the stack of each hit, Java and native frames: for rare probes (48 KiB are copied for each)");
  command->add_flag("--summary", arguments->summary, "print a table of all probes, with durations, at the end");
  command->footer("Example: jtrace probe 4711 'gc__*' 'monitor__*' -o trace.xml --duration 10");
  command->callback([arguments, &status] {
    const auto result = run(*arguments);
    status = result ? *result : report(result.error());
  });
}

}  // namespace jtrace::cli
