// The meaning of a counter's number: its correct unit and its freshness. HotSpot's declared units are wrong for some
// counters, and many values change only when a collection publishes them.
//
// Pure functions, any thread. Checked against HotSpot's sources (JDK 8 to 27) and against running JVMs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

enum class Quantity : std::uint8_t {
  kNone,    // a number without a unit: threads, a version, a threshold
  kEvents,  // a number of events
  kBytes,
  kWords,        // heap words, 8 bytes each
  kTicks,        // of sun.os.hrt.frequency a second: wall time
  kCpuTime,      // ns of thread CPU time
  kMillis,       // a duration in ms
  kEpochMillis,  // wall-clock time in ms since the epoch
  kPercent,
  kHertz,
  kText,
};
// The unit of quantity_value(): "", "events", "bytes", "seconds", "percent", "hertz", "text".
std::string_view quantity_unit(Quantity quantity);

// When a value is updated.
enum class Freshness : std::uint8_t {
  kConstant,  // never changes
  kLive,      // as it happens
  kSampled,   // every 50 ms, by the StatSampler (JDK 24 and before; JDK-8241678)
  kGc,        // only at a collection: constant between two of them, 0 before the first
};
std::string_view freshness_name(Freshness freshness);  // "constant", "live", "sampled", "gc"

struct Metadata {
  Quantity quantity = Quantity::kNone;
  Freshness freshness = Freshness::kLive;
  bool unit_corrected = false;  // HotSpot declares another unit
};

// Facts, from the same snapshot, on which the freshness of some counters depends.
struct VmTraits {
  bool has_sampler = false;      // sun.os.hrt.ticks exists: the StatSampler runs
  bool eden_only_at_gc = false;  // Serial and Parallel without the sampler, ZGC
  bool spaces_move = false;      // G1, Shenandoah, Epsilon: heap, eden and old change between collections too
  double ticks_per_second = 1e9;

  static VmTraits of(const Snapshot& snapshot);
};

Metadata describe(const Counter& counter, const VmTraits& traits);

// The value in quantity_unit(): ticks, ms and CPU ns as seconds, words as bytes. Meaningless for kText.
double quantity_value(Quantity quantity, std::int64_t raw, const VmTraits& traits);
// The same as decimal text without loss: "0.153367370", "4194304".
void append_quantity(std::string& out, Quantity quantity, std::int64_t raw, const VmTraits& traits);

}  // namespace jtrace::perfdata
