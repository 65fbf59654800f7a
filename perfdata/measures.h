// What metrics by others' names are about, without the names: a Measure has samples with attributes, and the
// conventions (conventions.h) say how measures and attributes are called. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "perfdata/named_jvm.h"

namespace jtrace::perfdata {

enum class Measure : std::uint8_t {
  kPoolUsed,
  kPoolCommitted,
  kPoolMax,
  kHeapUsed,
  kHeapCommitted,
  kHeapMax,
  kCollections,         // a summary by collector: count and sum
  kCollectionsByCause,  // the same by collector and cause, without phases of concurrent cycles
  kLongestByCause,      // of the last minutes
  kConcurrentByCause,   // the phases of concurrent cycles
  kLongestConcurrentByCause,
  kPauses,  // a histogram
  kMissedPauses,
  kThreads,
  kDaemonThreads,
  kThreadsByDaemon,  // and by state where that is known
  kThreadsByState,
  kPeakThreads,
  kStartedThreads,
  kClasses,
  kLoadedClasses,
  kUnloadedClasses,
  kCompilationSeconds,
  kCompilationMillis,
  kCpuSeconds,
  kStart,
  kUptime,
  kResident,
  kVirtual,
  kOpenFiles,
  kMaxFiles,
  kBuffers,
  kBufferCapacity,
  kBufferUsed,
};

enum class Attribute : std::uint8_t {
  kHeapArea,  // of the heap as a whole
  kArea,      // of a pool: kHeap, kNonHeap
  kPool,
  kCollector,
  kAction,
  kCause,
  kDaemon,  // "true", "false"
  kState,   // as in Thread.State
  kBuffer,
};
inline constexpr std::size_t kAttributes = static_cast<std::size_t>(Attribute::kBuffer) + 1;
inline constexpr std::string_view kHeap = "heap", kNonHeap = "nonheap";  // values of kArea

struct Summary {
  std::int64_t count = 0;
  double sum = 0;
};
struct Sample {
  std::vector<std::pair<Attribute, std::string>> attributes;
  std::variant<std::int64_t, double, Summary, GcDurations::Histogram> value;
};

// Whether the states of threads are known, and are those of the same moment as the counters: a thread may come or go
// between the two readings.
bool has_states(const NamedJvm& jvm);

// None if it is not known of that JVM.
std::vector<Sample> samples_of(const NamedJvm& jvm, Measure measure);

}  // namespace jtrace::perfdata
