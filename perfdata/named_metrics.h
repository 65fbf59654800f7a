// Metrics by the names that others gave them, for dashboards and rules that are there already: OpenTelemetry's semantic
// conventions for the JVM (1.44, in the form of Prometheus), Micrometer, and the Prometheus client for Java (1.x).
// Values are those of the platform MXBeans (mx_beans.h) and of the kernel; what is not known is left out.
// docs/hsperf.md lists the names.
//
// Beyond the conventions each series has the JVM's `pid` and `main`, with Micrometer `application` for the latter.
// Pure functions, any thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "perfdata/gc_durations.h"
#include "perfdata/mx_beans.h"
#include "perfdata/openmetrics.h"
#include "perfdata/process_figures.h"

namespace jtrace::perfdata {

enum class Naming : std::uint8_t { kHotspot, kOtel, kMicrometer, kClientJava };
// "hotspot", "otel", "micrometer", "client_java". kHotspot are the counters themselves (openmetrics.h).
std::optional<Naming> naming_of(std::string_view name);
// Whether it has a histogram of pauses (NamedJvm::durations).
bool shows_pauses(Naming naming);

struct NamedJvm {
  pid_t pid = 0;
  std::string main;
  MxBeans beans;
  ProcessFigures process;
  const GcDurations* durations = nullptr;  // null: none were watched
};
// Appends the families that have samples, without the end of OpenMetrics.
void append_named_metrics(std::string& out, std::span<const NamedJvm> jvms, Naming naming, MetricsFormat format);

}  // namespace jtrace::perfdata
