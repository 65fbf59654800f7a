// The back end without BPF: a perf event of each site on each processor. They fire in every process that maps the
// file; those of others are left out here. Registers and the top of the stack come with the hit; texts, and operands
// elsewhere in memory, are read afterwards out of the running process. Methods are counted here.
#pragma once

#include <memory>

#include "dtrace/probe_source.h"

namespace jtrace::dtrace {

Result<std::unique_ptr<ProbeSource>> open_perf_source(const target::Process& process, const Libjvm& libjvm,
                                                      const std::vector<TracedSite>& sites,
                                                      const SourceOptions& options);

}  // namespace jtrace::dtrace
