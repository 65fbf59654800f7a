#include "dtrace/trace/probe_limits.h"

#include <algorithm>

namespace jtrace::dtrace {
namespace {

// Measured with -Xint, objects of 32 bytes: 8, 21, 25 and 27 give their size; 11 and 17 gave 0 of almost all. Those
// between 8 and 21 are taken to be like 11 and 17.
constexpr int kFirstWrongSize = 9, kFirstRightSize = 21;

bool has(const std::vector<const Probe*>& chosen, std::string_view name) {
  return std::any_of(chosen.begin(), chosen.end(), [&](const Probe* probe) { return probe->full_name() == name; });
}
bool has(const std::vector<std::string>& flags, std::string_view name) {
  return std::find(flags.begin(), flags.end(), name) != flags.end();
}

}  // namespace

std::vector<std::string> limits_of_probes(const Libjvm& libjvm, const std::vector<const Probe*>& chosen,
                                          const std::vector<std::string>& switched) {
  std::vector<std::string> lines;
  const bool once = libjvm.interpreter_decides_once();
  const std::string late = "its flag was switched on while the JVM ran: ";
  const bool methods = has(chosen, "hotspot:method__entry") || has(chosen, "hotspot:method__return");
  if (methods && has(switched, "DTraceMethodProbes"))
    lines.push_back("methodEntry methodExit: method__entry: " + late +
                    (once ? "only methods that were compiled after that are there"
                          : "methods that were compiled before that are missing"));
  if (!has(chosen, "hotspot:object__alloc")) return lines;
  if (has(switched, "DTraceAllocProbes"))
    lines.push_back("objAlloc: object__alloc: " + late +
                    (once ? "only what leaves the fast path is there"
                          : "only what is interpreted or leaves the fast path is there"));
  if (libjvm.feature >= kFirstWrongSize && libjvm.feature < kFirstRightSize)
    lines.push_back("objAlloc: object__alloc: the interpreter of JDK " + std::to_string(libjvm.feature) +
                    " gives sizes that are not those of the objects");
  return lines;
}

}  // namespace jtrace::dtrace
