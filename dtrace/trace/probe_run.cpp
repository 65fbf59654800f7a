#include "dtrace/trace/probe_run.h"

#include <cstdio>

#include "base/clock.h"
#include "base/joined.h"
#include "base/strings.h"
#include "dtrace/flag_switch.h"
#include "dtrace/launch.h"
#include "dtrace/trace/chosen_probes.h"
#include "dtrace/trace/probe_limits.h"

namespace jtrace::dtrace {
namespace {

// Refuses if none of the probes can fire without its flag.
Result<std::vector<std::string>> flags_to_switch_on(const OffProbes& off, std::size_t chosen,
                                                    const ProbeRequest& request) {
  if (off.count == 0 || request.enable_flags) return off.flags;
  const std::string help = "start java with " + off.options + ", or let --enable-flags switch them on";
  if (off.count == chosen)
    return fail(ErrorCategory::kRefused, "these probes are off in this JVM and would never fire: " + off.names, help);
  if (!request.probes.empty())
    request.report(LogLevel::kWarning, "off in this JVM, they will not fire: " + off.names + "; " + help);
  return std::vector<std::string>();
}

// Switches on the flags that are off, and shares those that another trace has switched on.
Result<std::optional<FlagSwitch>> hold_flags(const target::Process& process, const Libjvm& libjvm,
                                             const std::vector<const Probe*>& chosen,
                                             const std::vector<std::string>& off, const ProbeRequest& request) {
  const auto needed = flags_to_hold(libjvm, chosen, off);
  if (needed.empty()) return std::optional<FlagSwitch>();
  JTRACE_ASSIGN_OR_RETURN(const auto limits, limits_of_switching(libjvm, off));
  for (const std::string& line : limits) request.report(LogLevel::kWarning, line);
  JTRACE_ASSIGN_OR_RETURN(auto switched, FlagSwitch::take(process, libjvm, needed, !off.empty()));
  if (const std::string names = joined(switched.flags()); !names.empty())
    request.report(LogLevel::kInfo, "switched on until the last trace of it ends: " + names);
  return std::optional(std::move(switched));
}

Result<std::vector<TracedSite>> sites_of(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                         const ProbeRequest& request) {
  JTRACE_ASSIGN_OR_RETURN(auto sites, choose_sites(libjvm, chosen, request.count_methods, request.stacks));
  for (const std::string& line : unreadable_operands(sites)) request.report(LogLevel::kWarning, line);
  return sites;
}

Result<std::unique_ptr<ProbeSource>> open_source(const target::Process& process, const Libjvm& libjvm,
                                                 const std::vector<TracedSite>& sites, const ProbeRequest& request) {
  const std::uint64_t before = monotonic_ns();
  JTRACE_ASSIGN_OR_RETURN(auto source,
                          ProbeSource::open(process, libjvm, sites, {request.back_end, request.options.ring_memory}));
  char time[32];
  std::snprintf(time, sizeof time, "%.0f ms", static_cast<double>(monotonic_ns() - before) / 1e6);
  request.report(LogLevel::kInfo, "tracing " + counted(sites.size(), "site") + " by " +
                                      std::string(to_string(source->back_end())) + ", set in " + time +
                                      (source->reason().empty() ? "" : " (" + source->reason() + ")"));
  return source;
}

// Null, with a warning, if the JVM's tables cannot be read.
std::unique_ptr<VmFacts> facts_of(const target::Process& process, const ProbeRequest& request) {
  auto facts = VmFacts::open(process.pid());
  if (facts) return std::move(*facts);
  request.report(LogLevel::kWarning,
                 "threads and classes from before the trace have only their names: " + facts.error().message());
  return nullptr;
}

// Virtual threads came with JDK 21 (19 and 20: on request).
bool has_virtual_threads(const Libjvm& libjvm) { return libjvm.feature == 0 || libjvm.feature >= 19; }

ProbeTraceOptions trace_options(const ProbeRequest& request) {
  return {.count = request.count,
          .summary = request.summary,
          .stacks = request.stacks,
          .warn = [&request](const std::string& line) { request.report(LogLevel::kWarning, line); }};
}

}  // namespace

Result<ProbeTraceSummary> trace_running(const target::Process& process, const ProbeRequest& request) {
  JTRACE_ASSIGN_OR_RETURN(const Libjvm libjvm, libjvm_of_process(process));
  if (libjvm.flag_error) request.report(LogLevel::kWarning, libjvm.flag_error->message());
  JTRACE_ASSIGN_OR_RETURN(const auto chosen, choose_probes(libjvm, request.probes));
  JTRACE_ASSIGN_OR_RETURN(const auto off, flags_to_switch_on(off_in(libjvm, chosen), chosen.size(), request));
  JTRACE_ASSIGN_OR_RETURN(const auto sites, sites_of(libjvm, chosen, request));
  const int cancel_fd = request.begin_cancel();
  JTRACE_ASSIGN_OR_RETURN(const auto output,
                          session::TraceOutput::open(request.options.output_path(process.pid()), request.options));
  const auto facts = facts_of(process, request);
  if (request.stacks && facts == nullptr)
    return fail(ErrorCategory::kPermission, "--stack needs to read the memory of the JVM",
                "it takes the same user as the JVM's, or CAP_SYS_PTRACE");
  // Before the probes are attached, because the guard must not hold their descriptors.
  JTRACE_ASSIGN_OR_RETURN(const auto switched, hold_flags(process, libjvm, chosen, off, request));
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(process, libjvm, sites, request));
  ProbeTraceOptions more = trace_options(request);
  more.facts = facts.get();
  more.may_have_carriers = has_virtual_threads(libjvm);
  more.unavailable = limits_of_probes(libjvm, chosen, switched ? switched->flags() : std::vector<std::string>());
  return run_probe_trace(process, *source, sites, *output, request.options, more, cancel_fd);
}

Result<ProbeTraceSummary> trace_launched(const std::vector<std::string>& command, const ProbeRequest& request,
                                         pid_t& pid) {
  JTRACE_ASSIGN_OR_RETURN(const std::string path, libjvm_of_launcher(command.front()));
  JTRACE_RETURN_IF_ERROR(check_flags(command, path));
  JTRACE_ASSIGN_OR_RETURN(const Libjvm libjvm, libjvm_of_file(path));
  JTRACE_ASSIGN_OR_RETURN(const auto chosen, choose_probes(libjvm, request.probes));
  if (const OffProbes off = off_in(command, chosen); !request.probes.empty() && off.count != 0)
    request.report(LogLevel::kWarning,
                   "off in this JVM, they will not fire: " + off.names + "; give java " + off.options);
  JTRACE_ASSIGN_OR_RETURN(const auto sites, sites_of(libjvm, chosen, request));
  JTRACE_ASSIGN_OR_RETURN(LaunchedProcess launched, LaunchedProcess::fork(command));
  pid = launched.pid();
  const int cancel_fd = request.begin_cancel();
  JTRACE_ASSIGN_OR_RETURN(const target::Process waiting, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const auto output,
                          session::TraceOutput::open(request.options.output_path(pid), request.options));
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_source(waiting, libjvm, sites, request));
  JTRACE_RETURN_IF_ERROR(launched.go());
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid));
  ProbeTraceOptions more = trace_options(request);
  more.starts = true;
  more.unavailable = limits_of_probes(libjvm, chosen, {});
  return run_probe_trace(process, *source, sites, *output, request.options, more, cancel_fd);
}

}  // namespace jtrace::dtrace
