// Metrics by OpenTelemetry's names as a request of OTLP/HTTP in JSON (opentelemetry-proto,
// ExportMetricsServiceRequest): one resource for each JVM. Numbers of 64 bits are texts, enums numbers, sums cumulative
// since the start of the JVM, the histogram of pauses since they are watched. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "perfdata/named_jvm.h"

namespace jtrace::perfdata {

// `now`: ns since the epoch; `host`: host.name, "" if it is not known.
std::string otlp_request(std::span<const NamedJvm> jvms, std::uint64_t now, std::string_view host);

}  // namespace jtrace::perfdata
