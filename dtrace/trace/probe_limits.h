// What of the JVM's events its probes do not give. Pure.
#pragma once

#include <string>
#include <vector>

#include "dtrace/libjvm.h"
#include "dtrace/probe_catalogue.h"

namespace jtrace::dtrace {

// Values of the option jtrace.unavailable, "EVENTS: PROBE: why". `switched`: flags of probes that were switched on
// while the JVM ran (FlagSwitch::flags).
std::vector<std::string> limits_of_probes(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                          const std::vector<std::string>& switched);

}  // namespace jtrace::dtrace
