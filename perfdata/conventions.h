// The conventions for names of metrics: OpenTelemetry's semantic conventions for the JVM (1.44), Micrometer, and the
// Prometheus client for Java (1.x). Tables; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "perfdata/measures.h"

namespace jtrace::perfdata {

enum class Naming : std::uint8_t { kHotspot, kOtel, kMicrometer, kClientJava };
// "hotspot", "otel", "micrometer", "client_java". kHotspot are the counters themselves (openmetrics.h).
std::optional<Naming> naming_of(std::string_view name);
// Whether it has families about pauses that were seen one by one (NamedJvm::durations).
bool shows_pauses(Naming naming);

// A sum that may fall is a gauge to Prometheus, and an UpDownCounter to OpenTelemetry.
enum class FamilyType : std::uint8_t { kGauge, kUpDown, kCounter, kSummary, kHistogram };

struct FamilyName {
  Measure measure;
  FamilyType type;
  std::string_view name;  // of Prometheus, without _total
  std::string_view help;
  std::string_view otlp = {}, unit = {};  // of OpenTelemetry: its own name, and the unit by UCUM
};

struct Convention {
  std::string_view name;
  std::span<const FamilyName> families;
  std::string_view main;                             // the label for the main class
  std::array<std::string_view, kAttributes> labels;  // by Attribute; "": the convention has none

  // A value of an attribute, as the convention spells it.
  std::string spelling(Attribute attribute, std::string_view value) const;
};
const Convention& convention_of(Naming naming);
// OpenTelemetry's own name of an attribute.
std::string_view otlp_name(Attribute attribute);

}  // namespace jtrace::perfdata
