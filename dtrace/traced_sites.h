// From chosen probes to the sites to trace: those of the probes themselves, and those without which they would not be
// understood (who a thread is, when a symbol dies, what a pool holds, who owns a monitor). Pure, any thread.
#pragma once

#include <string>
#include <vector>

#include "dtrace/probe_program.h"

namespace jtrace::dtrace {

// `chosen` point into `all`, which must outlive the sites.
// `count_methods`: method__entry is counted by method in the kernel, method__return is only counted. `stacks`: the
// stack comes with each hit of a chosen probe, but for method__entry and method__return.
std::vector<TracedSite> sites_to_trace(const std::vector<Probe>& all, const std::vector<const Probe*>& chosen,
                                       bool count_methods = false, bool stacks = false);

// The operands of chosen sites that cannot be read and count as 0: one line each, with probe, site and text.
std::vector<std::string> unreadable_operands(const std::vector<TracedSite>& sites);

}  // namespace jtrace::dtrace
