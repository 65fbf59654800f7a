// The BPF back ends: uprobe_multi and perf_bpf (dtrace/probe_source.h). One thread.
#pragma once

#include <memory>
#include <vector>

#include "dtrace/probe_source.h"

namespace jtrace::dtrace {

Result<std::unique_ptr<ProbeSource>> open_bpf_source(const target::Process& process, const Libjvm& libjvm,
                                                     const std::vector<TracedSite>& sites, const SourceOptions& options,
                                                     bool multi);

// Whether uprobe_multi with a process sees all of its threads: true for "6.18.44-x", false below 6.11.
bool kernel_is_at_least(std::string_view release, int major, int minor);

}  // namespace jtrace::dtrace
