// Derived values, such as old.used or gc.pause_share, from one snapshot, or from two if the value is a share of time or
// a rate. check and top use the same table. Pure functions, any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

struct DerivedName {
  std::string_view name;
  std::string_view unit;  // bytes, seconds, share (0 to 1), per second, or ""
  bool needs_two;         // refers to the time between two snapshots
  bool only_at_gc;        // changes only at a collection, but for VmTraits::spaces_move
  std::string_view help;
};
const std::vector<DerivedName>& derived_names();
const DerivedName* find_derived(std::string_view name);

// Nothing if the JVM lacks the counters, or if `before` is needed and null. `before` is older than `now`.
std::optional<double> derived_value(std::string_view name, const Snapshot& now, const Snapshot* before);

// Whether the JVM has the counters of that derived value; without them it never has one. (An empty space has no share
// either, but may get it.)
bool has_derived(std::string_view name, const Snapshot& snapshot);

// A counter's value in its correct unit (metadata.h); nothing if it does not exist or is not a number.
std::optional<double> counter_value(std::string_view name, const Snapshot& snapshot);

}  // namespace jtrace::perfdata
