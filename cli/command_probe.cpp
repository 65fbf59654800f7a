// jtrace probe PID PROBE...: a trace through USDT probes, until the duration, Ctrl-C or the JVM's end.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "cli/attach_run.h"
#include "cli/commands.h"
#include "cli/selector.h"
#include "dtrace/launch.h"
#include "dtrace/probe_events.h"
#include "dtrace/probe_summary.h"
#include "dtrace/traced_sites.h"
#include "session/event_emitter.h"
#include "session/options.h"
#include "session/trace_identity.h"
#include "session/trace_output.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

constexpr std::uint64_t kDefaultRing = 16u << 20;
constexpr int kInterval = 4;  // ms between two looks into the ring
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
  std::vector<std::string> words;  // PID PROBE..., or PROBE... and what stands behind "--"
  std::string output, duration, max_size, ring_memory;
  std::vector<std::string> filters;
  std::uint64_t count = 0;
  std::string back_end = "auto";
  bool summary = false;
};

// The words behind "--" of our own command line: CLI11 gives all positional words alike.
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

// Events of the probes get their place in the trace.
class PlacingSink final : public trace::EventSink {
 public:
  explicit PlacingSink(session::EventEmitter& emitter) : emitter_(emitter) {}
  Result<> write(const trace::Event& event) override {
    return std::visit([this](const auto& element) { return emitter_.emit(element); }, event);
  }

 private:
  session::EventEmitter& emitter_;
};

bool pattern_matches(std::string_view pattern, std::string_view text) {
  if (pattern == "*") return true;
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return text.ends_with(pattern.substr(1));
  return pattern == text;
}

// The first rule that matches a class decides; no match includes.
bool wanted_by(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method) {
  std::string dotted(class_name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  for (const session::FilterRule& rule : rules) {
    if (!pattern_matches(rule.class_pattern, dotted)) continue;
    if (rule.method_pattern != "*" && (method.empty() || !pattern_matches(rule.method_pattern, method))) continue;
    return rule.include;
  }
  return true;
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

Result<std::vector<const dtrace::Probe*>> probes_of(const dtrace::Libjvm& libjvm, const std::vector<std::string>& words,
                                                    bool flags_matter) {
  if (libjvm.probes.empty()) return fail(dtrace::no_probes(libjvm));
  std::vector<const dtrace::Probe*> chosen, off;
  std::vector<std::string> wanted(words);
  if (words.empty()) wanted.assign(std::begin(kDefaultProbes), std::end(kDefaultProbes));
  for (const std::string& word : wanted) {
    JTRACE_ASSIGN_OR_RETURN(const auto some, dtrace::select_probes(libjvm.probes, word));
    for (const dtrace::Probe* probe : some)
      if (std::find(chosen.begin(), chosen.end(), probe) == chosen.end()) chosen.push_back(probe);
  }
  if (!flags_matter) return chosen;
  std::string names, flags;
  for (const dtrace::Probe* probe : chosen) {
    if (libjvm.enabled(*probe).value_or(true)) continue;
    off.push_back(probe);
    names += (names.empty() ? "" : ", ") + probe->name;
    const std::string flag = "-XX:+" + std::string(probe->description.flag);
    if (flags.find(flag) == std::string::npos) flags += (flags.empty() ? "" : " ") + flag;
  }
  if (off.empty()) return chosen;
  const std::string help = "start java with " + flags;
  if (off.size() == chosen.size())
    return fail(ErrorCategory::kRefused, "these probes are off in this JVM and would never fire: " + names, help);
  if (!words.empty()) log_warning("off in this JVM, they will not fire: " + names + "; " + help);
  return chosen;
}

enum class Ending { kDuration, kInterrupted, kCount, kTargetEnded, kTargetChanged, kOutput };

// One trace from its head to its end.
class ProbeTrace {
 public:
  ProbeTrace(const target::Process& process, dtrace::ProbeSource& source, const std::vector<dtrace::TracedSite>& sites,
             session::TraceOutput& output, const session::TraceOptions& options, const ProbeArguments& arguments,
             int cancel_fd)
      : process_(process),
        source_(source),
        sites_(sites),
        output_(output),
        options_(options),
        arguments_(arguments),
        cancel_fd_(cancel_fd),
        emitter_(output.sink(), true, false),
        placing_(emitter_),
        summary_(sites),
        events_(placing_, process, sites, anchor_, event_options()) {}

  Result<ExitStatus> run() {
    start_ = monotonic_ns();
    Result<> written = write_head();
    const Ending ending = written ? trace(written) : Ending::kOutput;
    source_.detach();
    const std::uint64_t detached = monotonic_ns();
    if (written) written = source_.drain([this](const dtrace::ProbeRecord& record) { return take(record); }, true);
    output_.begin_closing();
    const Result<> closed = write_end(detached);
    say_end(ending, detached);
    if (!written) return fail(written.error());
    if (!closed) return fail(closed.error());
    return lost_ != 0 || events_.counts().missing_texts != 0 ? ExitStatus::kPartial : ExitStatus::kOk;
  }

 private:
  dtrace::EventOptions event_options() const {
    dtrace::EventOptions events;
    if (!options_.filters.empty())
      events.wanted = [this](std::string_view name, std::string_view method) {
        return wanted_by(options_.filters, name, method);
      };
    return events;
  }

  trace::Time wall(std::uint64_t time) const { return trace::Time(anchor_.wall_of(time)); }
  Result<> option(std::string_view key, const std::string& value) {
    return emitter_.emit(trace::Option{.key = key, .value = value});
  }

  Result<> write_head() {
    JTRACE_RETURN_IF_ERROR(output_.begin());
    auto jvm = target::examine_jvm(process_);
    identity_ = session::identify(process_, jvm ? *jvm : target::Jvm{}, options_);
    identity_.agent_name = "jtrace probe";
    JTRACE_RETURN_IF_ERROR(session::write_identity(emitter_, identity_, anchor_.wall_of(start_)));
    const std::string trace_id = random_uuid();
    emitter_.begin_trace(trace_id);
    JTRACE_RETURN_IF_ERROR(
        emitter_.emit(trace::TraceStart{.traceId = trace_id, .agentIdRef = identity_.agent_id, .time = wall(start_)}));
    std::string names;
    const dtrace::Probe* last = nullptr;
    for (const dtrace::TracedSite& site : sites_) {
      if (site.chosen && site.probe != last) names += (names.empty() ? "" : ",") + site.probe->full_name();
      last = site.probe;
    }
    JTRACE_RETURN_IF_ERROR(option("jtrace.probes", names));
    JTRACE_RETURN_IF_ERROR(option("jtrace.backend", std::string(dtrace::to_string(source_.back_end()))));
    for (const session::FilterRule& rule : options_.filters)
      JTRACE_RETURN_IF_ERROR(emitter_.emit(session::to_element(rule, true)));
    JTRACE_RETURN_IF_ERROR(option("jtrace.vm", "pid=" + std::to_string(identity_.nspid)));
    JTRACE_RETURN_IF_ERROR(say_clock());
    return output_.flush();
  }

  static std::string seconds_text(std::uint64_t ns) {
    char text[40];
    std::snprintf(text, sizeof text, "%llu.%09llu", static_cast<unsigned long long>(ns / kNanosPerSecond),
                  static_cast<unsigned long long>(ns % kNanosPerSecond));
    return text;
  }
  Result<> say_clock() {
    const ClockAnchor now = ClockAnchor::now();
    timespec resolution{};
    ::clock_getres(CLOCK_MONOTONIC, &resolution);
    next_clock_ = now.monotonic + 60 * kNanosPerSecond;
    return option("jtrace.clock", "monotonic=" + seconds_text(now.monotonic) +
                                      ",realtime=" + seconds_text(now.realtime) +
                                      ",resolution=" + seconds_text(static_cast<std::uint64_t>(resolution.tv_nsec)));
  }

  Result<> take(const dtrace::ProbeRecord& record) {
    if (count_reached()) return {};
    summary_.add(record);
    return events_.write(record);
  }
  bool count_reached() const { return arguments_.count != 0 && events_.counts().taken >= arguments_.count; }

  // Until something ends it. `written`: the output's error.
  Ending trace(Result<>& written) {
    for (std::uint64_t next_check = start_ + kNanosPerSecond;;) {
      pollfd waits[] = {{cancel_fd_, POLLIN, 0}, {process_.pidfd(), POLLIN, 0}};
      ::poll(waits, 2, kInterval);
      written = source_.drain([this](const dtrace::ProbeRecord& record) { return take(record); }, false);
      const std::uint64_t now = monotonic_ns();
      if (written && now >= next_check) {
        next_check = now + kNanosPerSecond;
        written = say_lost();
        if (written && now >= next_clock_) written = say_clock();
        if (written) written = output_.flush();
        if (libjvm_is_gone()) return Ending::kTargetChanged;
      }
      if (!written) return Ending::kOutput;
      if (waits[0].revents != 0) {
        signalfd_siginfo taken{};  // left pending it would end us once it is unblocked
        [[maybe_unused]] const ssize_t size = ::read(cancel_fd_, &taken, sizeof taken);
        return Ending::kInterrupted;
      }
      if (process_.has_exited()) return Ending::kTargetEnded;
      if (count_reached()) return Ending::kCount;
      if (options_.duration && now - start_ >= *options_.duration) return Ending::kDuration;
    }
  }

  // The process has become another program (execve).
  bool libjvm_is_gone() {
    const auto maps = process_.maps();
    if (!maps || process_.has_exited()) return false;
    const bool there = target::find_libjvm(*maps) != nullptr;
    const bool gone = seen_libjvm_ && !there;
    seen_libjvm_ |= there;
    return gone;
  }

  Result<> say_lost() {
    JTRACE_ASSIGN_OR_RETURN(const auto counters, source_.counters());
    std::uint64_t lost = 0;
    for (const dtrace::SiteCounters& counter : counters) lost += counter.lost;
    if (lost <= lost_) return {};
    const std::uint64_t more = lost - lost_;
    lost_ = lost;
    events_.forget_after_loss();
    summary_.forget_after_loss();
    return option("jtrace.dropped", std::to_string(more));
  }

  Result<> write_end(std::uint64_t time) {
    Result<> first = say_lost();
    const auto keep = [&first](Result<> next) {
      if (first && !next) first = std::move(next);
    };
    keep(emitter_.emit(trace::TraceEnd{.time = wall(time)}));
    keep(emitter_.emit(trace::AgentDestroy{.agentIdRef = identity_.agent_id, .time = wall(time)}));
    keep(output_.finish());
    return first;
  }

  void say_end(Ending ending, std::uint64_t end) {
    const std::string name = "JVM " + std::to_string(process_.pid());
    if (ending == Ending::kTargetEnded) log_info(name + " ended");
    if (ending == Ending::kTargetChanged) log_info(name + " has become another program");
    const dtrace::EventCounts& counts = events_.counts();
    if (lost_ != 0) log_warning(std::to_string(lost_) + " hits were lost: --ring-memory makes room");
    if (counts.missing_texts != 0) log_warning(std::to_string(counts.missing_texts) + " texts could not be read");
    if (counts.cut_texts != 0) log_warning(std::to_string(counts.cut_texts) + " texts were cut");
    if (counts.exits_without_entry != 0)
      log_info(std::to_string(counts.exits_without_entry) + " methods were left that had been entered before");
    if (counts.without_element != 0 && !arguments_.summary)
      log_info(std::to_string(counts.without_element) + " hits have no element in the trace; --summary counts them");
    if (arguments_.summary) {
      const auto counters = source_.counters();
      const std::string text = summary_.text(counters ? *counters : std::vector<dtrace::SiteCounters>(sites_.size()));
      std::fwrite(text.data(), 1, text.size(), output_.path() == "-" ? stderr : stdout);
    }
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f s", static_cast<double>(end - start_) / 1e9);
    log_info(std::to_string(counts.taken) + " hits, " + std::to_string(emitter_.total()) + " elements in " + seconds +
             (output_.path() == "-" ? "" : " -> " + output_.path()));
  }

  const target::Process& process_;
  dtrace::ProbeSource& source_;
  const std::vector<dtrace::TracedSite>& sites_;
  session::TraceOutput& output_;
  const session::TraceOptions& options_;
  const ProbeArguments& arguments_;
  int cancel_fd_;
  ClockAnchor anchor_ = ClockAnchor::now();
  session::EventEmitter emitter_;
  PlacingSink placing_;
  dtrace::ProbeSummary summary_;
  dtrace::ProbeEvents events_;
  session::TraceIdentity identity_;
  std::uint64_t start_ = 0;
  std::uint64_t next_clock_ = 0;
  std::uint64_t lost_ = 0;
  bool seen_libjvm_ = false;
};

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

Result<ExitStatus> trace_running(const ProbeArguments& arguments, const session::TraceOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, open_selected(arguments.words.front()));
  JTRACE_ASSIGN_OR_RETURN(const dtrace::Libjvm libjvm, dtrace::libjvm_of_process(process));
  if (libjvm.flag_error) log_warning(libjvm.flag_error->message());
  JTRACE_ASSIGN_OR_RETURN(const auto chosen,
                          probes_of(libjvm, {arguments.words.begin() + 1, arguments.words.end()}, true));
  const auto sites = dtrace::sites_to_trace(libjvm.probes, chosen);
  const ScopedCancel cancel;
  JTRACE_ASSIGN_OR_RETURN(const auto output, session::TraceOutput::open(options.output_path(process.pid()), options));
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(process, libjvm, sites, arguments, options));
  return ProbeTrace(process, *source, sites, *output, options, arguments, cancel.fd()).run();
}

Result<ExitStatus> trace_launched(const ProbeArguments& arguments, const session::TraceOptions& options,
                                  std::size_t behind) {
  const auto first = arguments.words.end() - static_cast<std::ptrdiff_t>(behind);
  const std::vector<std::string> command(first, arguments.words.end());
  JTRACE_ASSIGN_OR_RETURN(const std::string path, dtrace::libjvm_of_launcher(command.front()));
  JTRACE_ASSIGN_OR_RETURN(const dtrace::Libjvm libjvm, dtrace::libjvm_of_file(path));
  JTRACE_ASSIGN_OR_RETURN(const auto chosen, probes_of(libjvm, {arguments.words.begin(), first}, false));
  const auto sites = dtrace::sites_to_trace(libjvm.probes, chosen);
  JTRACE_ASSIGN_OR_RETURN(dtrace::LaunchedProcess launched, dtrace::LaunchedProcess::fork(command));
  const ScopedCancel cancel;
  JTRACE_ASSIGN_OR_RETURN(const target::Process waiting, target::Process::open(launched.pid()));
  JTRACE_ASSIGN_OR_RETURN(const auto output, session::TraceOutput::open(options.output_path(launched.pid()), options));
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(waiting, libjvm, sites, arguments, options));
  JTRACE_RETURN_IF_ERROR(launched.go());
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(launched.pid()));
  return ProbeTrace(process, *source, sites, *output, options, arguments, cancel.fd()).run();
}

Result<ExitStatus> run(const ProbeArguments& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  JTRACE_ASSIGN_OR_RETURN(const session::TraceOptions options, options_of(arguments));
  const std::size_t behind = words_behind_dashes();
  if (behind != 0 && behind <= arguments.words.size()) return trace_launched(arguments, options, behind);
  return trace_running(arguments, options);
}

}  // namespace

void add_probe_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<ProbeArguments>();
  CLI::App* command = app.add_subcommand("probe", "trace a JVM through its USDT probes, without an agent");
  command
      ->add_option("PID|PROBE", arguments->words,
                   "a JVM (pid or part of its main class), then probes: names, globs, providers; without probes "
                   "threads, classes, GC, monitors. Or probes, then -- and a java command to start")
      ->required();
  command->add_option("-o,--output", arguments->output, "file; -: standard output (default jtrace-PID.xml)");
  command->add_option("--duration", arguments->duration, "how long, in seconds or with a unit");
  command->add_option("--count", arguments->count, "ends after so many hits");
  command->add_option("--filter", arguments->filters,
                      "CLASS-PATTERN [METHOD-PATTERN] include|exclude; the first decides");
  command->add_option("--max-size", arguments->max_size, "of the output");
  command->add_option("--ring-memory", arguments->ring_memory, "room for hits that are not yet written (default 16M)");
  command->add_option("--backend", arguments->back_end, "auto: the first that works")
      ->check(CLI::IsMember({"auto", "uprobe_multi", "perf_bpf"}));
  command->add_flag("--summary", arguments->summary, "print a table of all probes, with durations, at the end");
  command->footer("Example: jtrace probe 4711 'gc__*' 'monitor__*' -o trace.xml --duration 10");
  command->callback([arguments, &status] {
    const auto result = run(*arguments);
    status = result ? *result : report(result.error());
  });
}

}  // namespace jtrace::cli
