#include "agent/methods/wanted_probes.h"

#include "agent/classfile/class_rewriter.h"
#include "agent/recorder.h"

namespace jtrace::agent {
namespace {

// What rewrite_class() is asked for if any of the events was granted, or if the trace has the flag.
struct ProbesOf {
  std::uint64_t events;
  std::uint32_t flag;
  std::uint32_t options;
};
constexpr ProbesOf kProbesOf[] = {
    {record::kMethodEvent, 0, classfile::kProbeEntry | classfile::kProbeExit},
    {record::kMethodCountEvent, 0, classfile::kProbeCount},
    {0, record::kArguments, classfile::kProbeArguments},
    {0, record::kReturnValues, classfile::kProbeResult},
    {0, record::kReceivers, classfile::kProbeReceiver | classfile::kProbeConstructed},
    {record::kAllocationEvent, 0, classfile::kProbeArrays | classfile::kProbeNew | classfile::kProbeSites},
    {record::kThrowEvent, 0, classfile::kProbeThrow},
    {record::kCatchEvent, 0, classfile::kProbeCatch},
    {record::kLineEvent, 0, classfile::kProbeLine},
    {record::kCallEvent, 0, classfile::kProbeCalls | classfile::kProbeFrames},
};
// Options for which the class that probes call has no methods. With sites, arrays and new instances call made().
constexpr std::uint32_t kWithSites = classfile::kProbeArrays | classfile::kProbeNew;
static_assert(
    [] {
      for (const ProbesOf& each : kProbesOf)
        if ((each.options & ~(probe_options(ProbeCalls::kEach) | kWithSites)) != 0) return false;
      return true;
    }(),
    "rewritten code would call a method that the class of probes does not have");
static_assert(
    [] {
      std::uint64_t events = 0;
      for (const ProbesOf& each : kProbesOf) events |= each.events;
      return events == record::kProbeEvents;
    }(),
    "an event of probes (events.def) for which no probe is inserted");

}  // namespace

std::uint32_t wanted_probes(const Recorder& recorder) {
  std::uint32_t wanted = 0;
  for (const ProbesOf& each : kProbesOf)
    if (recorder.traces(each.events) || recorder.config.has_flag(each.flag)) wanted |= each.options;
  return wanted;
}

ProbeStyle probe_style(const Recorder& recorder) {
  return {recorder.config.has_flag(record::kPreciseTime) ? ProbeTime::kPrecise : ProbeTime::kCoarse,
          recorder.config.slower_than != 0 ? ProbeCalls::kSlow : ProbeCalls::kEach,
          recorder.config.has_flag(record::kCpuTime)};
}

}  // namespace jtrace::agent
