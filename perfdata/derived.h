// Derived values: what people ask of a JVM (old.used, gc.pause_share, ...) out of one snapshot, or out of two where it
// is a share of time or a rate. One table serves check and top. Pure functions, any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

struct DerivedName {
  std::string_view name;
  std::string_view unit;  // bytes, seconds, share (0 to 1), per second, or ""
  bool needs_two;         // of the time between two snapshots
  bool only_at_gc;        // moves at a collection only
  std::string_view help;
};
const std::vector<DerivedName>& derived_names();
const DerivedName* find_derived(std::string_view name);

// Nothing where the JVM lacks the counters for it, or where `before` is needed and null. `before` is older than `now`.
std::optional<double> derived_value(std::string_view name, const Snapshot& now, const Snapshot* before);

// A counter's value in its true unit (metadata.h); nothing where it is not there or no number.
std::optional<double> counter_value(std::string_view name, const Snapshot& snapshot);

}  // namespace jtrace::perfdata
