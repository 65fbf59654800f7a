#include "agent/methods/wanted_callouts.h"

#include "agent/classfile/class_rewriter.h"
#include "agent/recorder.h"

namespace jtrace::agent {
namespace {

// What rewrite_class() is asked for if any of the events was granted, or if the trace has the flag.
struct CalloutsOf {
  std::uint64_t events;
  std::uint32_t flag;
  std::uint32_t options;
};
constexpr CalloutsOf kCalloutsOf[] = {
    {record::kMethodEvent, 0, classfile::kCalloutEntry | classfile::kCalloutExit},
    {record::kMethodCountEvent, 0, classfile::kCalloutCount},
    {0, record::kArguments, classfile::kCalloutArguments},
    {0, record::kReturnValues, classfile::kCalloutResult},
    {0, record::kReceivers, classfile::kCalloutReceiver | classfile::kCalloutConstructed},
    {record::kAllocationEvent, 0, classfile::kCalloutArrays | classfile::kCalloutNew | classfile::kCalloutSites},
    {record::kThrowEvent, 0, classfile::kCalloutThrow},
    {record::kCatchEvent, 0, classfile::kCalloutCatch},
    {record::kLineEvent, 0, classfile::kCalloutLine},
    {record::kCallEvent, 0, classfile::kCalloutCalls | classfile::kCalloutFrames},
};
// Options for which the class that callouts call has no methods. With sites, arrays and new instances call made().
constexpr std::uint32_t kWithSites = classfile::kCalloutArrays | classfile::kCalloutNew;
static_assert(
    [] {
      for (const CalloutsOf& each : kCalloutsOf)
        if ((each.options & ~(callout_options(CalloutCalls::kEach) | kWithSites)) != 0) return false;
      return true;
    }(),
    "rewritten code would call a method that the class of callouts does not have");
static_assert(
    [] {
      std::uint64_t events = 0;
      for (const CalloutsOf& each : kCalloutsOf) events |= each.events;
      return events == record::kCalloutEvents;
    }(),
    "an event of callouts (events.def) for which no callout is inserted");

}  // namespace

std::uint32_t wanted_callouts(const Recorder& recorder) {
  std::uint32_t wanted = 0;
  for (const CalloutsOf& each : kCalloutsOf)
    if (recorder.traces(each.events) || recorder.config.has_flag(each.flag)) wanted |= each.options;
  return wanted;
}

CalloutStyle callout_style(const Recorder& recorder) {
  return {recorder.config.has_flag(record::kPreciseTime) ? CalloutTime::kPrecise : CalloutTime::kCoarse,
          recorder.config.slower_than != 0 ? CalloutCalls::kSlow : CalloutCalls::kEach,
          recorder.config.has_flag(record::kCpuTime)};
}

}  // namespace jtrace::agent
