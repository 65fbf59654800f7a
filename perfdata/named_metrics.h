// Metrics by the names that others gave them (conventions.h), as text for Prometheus, for dashboards and rules that are
// there already. Values are those of the platform MXBeans (mx_beans.h) and of the kernel; what is not known is left
// out. docs/hsperf.md lists the names.
//
// Beyond the conventions each series has the JVM's `pid` and `main`, with Micrometer `application` for the latter.
// Pure functions, any thread.
#pragma once

#include <span>
#include <string>

#include "perfdata/conventions.h"
#include "perfdata/openmetrics.h"

namespace jtrace::perfdata {

// Appends the families that have samples, without the end of OpenMetrics.
void append_named_metrics(std::string& out, std::span<const NamedJvm> jvms, Naming naming, MetricsFormat format);

}  // namespace jtrace::perfdata
