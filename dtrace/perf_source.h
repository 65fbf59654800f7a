// The back end without BPF: a perf event for each site on each processor. They fire in every process that maps the
// file; hits of other processes are dropped here. Registers and the top of the stack come with the hit; texts, and
// operands elsewhere in memory, are read later from the running process. Methods are counted here.
#pragma once

#include <memory>

#include "dtrace/probe_source.h"

namespace jtrace::dtrace {

Result<std::unique_ptr<ProbeSource>> open_perf_source(const target::Process& process, const Libjvm& libjvm,
                                                      const std::vector<TracedSite>& sites,
                                                      const SourceOptions& options);

}  // namespace jtrace::dtrace
