// From the user's words to probes and sites, and to the flags of the JVM that they need. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "dtrace/libjvm.h"
#include "dtrace/traced_sites.h"

namespace jtrace::dtrace {

// The probes of the words (select_probes()); without words those of threads, classes, collections and monitors. They
// point into `libjvm`.
Result<std::vector<const Probe*>> choose_probes(const Libjvm& libjvm, const std::vector<std::string>& words);

// Probes that are off in a JVM because their flags are off.
struct OffProbes {
  std::size_t count = 0;
  std::string names;               // with commas
  std::vector<std::string> flags;  // each once
  std::string options;             // of java, which switch them on: "-XX:+DTraceMethodProbes ..."
};
// For a running JVM.
OffProbes off_in(const Libjvm& libjvm, const std::vector<const Probe*>& chosen);
// For a JVM that this command starts.
OffProbes off_in(const std::vector<std::string>& command, const std::vector<const Probe*>& chosen);

// The flags that the chosen probes need: those that are off, then those that are on and may be another trace's.
std::vector<std::string> flags_to_hold(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                       const std::vector<std::string>& off);

// As sites_to_trace(). kUsage: stacks are wanted and no site copies one, because method probes fire too often.
Result<std::vector<TracedSite>> choose_sites(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                             bool count_methods, bool stacks);

}  // namespace jtrace::dtrace
