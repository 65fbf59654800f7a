#include "perfdata/conventions.h"

#include <algorithm>

namespace jtrace::perfdata {
namespace {

using enum FamilyType;

constexpr FamilyName kOtelNames[] = {
    {Measure::kPoolUsed, kUpDown, "jvm_memory_used_bytes", "Memory used", "jvm.memory.used", "By"},
    {Measure::kPoolCommitted, kUpDown, "jvm_memory_committed_bytes", "Memory committed", "jvm.memory.committed", "By"},
    {Measure::kPoolMax, kUpDown, "jvm_memory_limit_bytes", "Largest size of the memory pool", "jvm.memory.limit", "By"},
    {Measure::kPauses, kHistogram, "jvm_gc_duration_seconds",
     "Duration of pauses for collections, of those that were seen", "jvm.gc.duration", "s"},
    {Measure::kMissedPauses, kCounter, "hsperf_gc_pauses_missed", "Pauses that jvm_gc_duration_seconds lacks",
     "hsperf.gc.pauses.missed", "{pause}"},
    {Measure::kThreadsByDaemon, kUpDown, "jvm_thread_count", "Platform threads", "jvm.thread.count", "{thread}"},
    {Measure::kLoadedClasses, kCounter, "jvm_class_loaded", "Classes loaded since the start", "jvm.class.loaded",
     "{class}"},
    {Measure::kUnloadedClasses, kCounter, "jvm_class_unloaded", "Classes unloaded since the start",
     "jvm.class.unloaded", "{class}"},
    {Measure::kClasses, kUpDown, "jvm_class_count", "Classes that are loaded", "jvm.class.count", "{class}"},
    {Measure::kCpuSeconds, kCounter, "jvm_cpu_time_seconds", "Processor time of the process", "jvm.cpu.time", "s"},
    {Measure::kOpenFiles, kUpDown, "jvm_file_descriptor_count", "Open file descriptors", "jvm.file_descriptor.count",
     "{file_descriptor}"},
    {Measure::kMaxFiles, kUpDown, "jvm_file_descriptor_limit", "Most file descriptors that may be open",
     "jvm.file_descriptor.limit", "{file_descriptor}"},
    {Measure::kBufferUsed, kUpDown, "jvm_buffer_memory_used_bytes", "Memory of the buffers", "jvm.buffer.memory.used",
     "By"},
    {Measure::kBufferCapacity, kUpDown, "jvm_buffer_memory_limit_bytes", "Capacity of the buffers",
     "jvm.buffer.memory.limit", "By"},
    {Measure::kBuffers, kUpDown, "jvm_buffer_count", "Buffers", "jvm.buffer.count", "{buffer}"},
};

constexpr FamilyName kMicrometerNames[] = {
    {Measure::kPoolUsed, kGauge, "jvm_memory_used_bytes", "The amount of used memory"},
    {Measure::kPoolCommitted, kGauge, "jvm_memory_committed_bytes", "The amount of committed memory"},
    {Measure::kPoolMax, kGauge, "jvm_memory_max_bytes", "The largest amount of memory"},
    {Measure::kCollectionsByCause, kSummary, "jvm_gc_pause_seconds", "Time in pauses for collections"},
    {Measure::kLongestByCause, kGauge, "jvm_gc_pause_seconds_max", "Longest pause of the last minutes"},
    {Measure::kConcurrentByCause, kSummary, "jvm_gc_concurrent_phase_time_seconds",
     "Time in phases of concurrent collections"},
    {Measure::kLongestConcurrentByCause, kGauge, "jvm_gc_concurrent_phase_time_seconds_max",
     "Longest phase of the last minutes"},
    {Measure::kThreads, kGauge, "jvm_threads_live_threads", "Live platform threads"},
    {Measure::kDaemonThreads, kGauge, "jvm_threads_daemon_threads", "Live daemon threads"},
    {Measure::kPeakThreads, kGauge, "jvm_threads_peak_threads", "Most threads that lived at a time"},
    {Measure::kStartedThreads, kCounter, "jvm_threads_started_threads", "Threads started"},
    {Measure::kThreadsByState, kGauge, "jvm_threads_states_threads", "Platform threads in each state"},
    {Measure::kClasses, kGauge, "jvm_classes_loaded_classes", "Classes that are loaded"},
    {Measure::kUnloadedClasses, kCounter, "jvm_classes_unloaded_classes", "Classes unloaded since the start"},
    {Measure::kCompilationMillis, kCounter, "jvm_compilation_time_ms", "Time spent in compilation"},
    {Measure::kUptime, kGauge, "process_uptime_seconds", "Time since the start of the JVM"},
    {Measure::kStart, kGauge, "process_start_time_seconds", "Start of the JVM since the epoch"},
    {Measure::kOpenFiles, kGauge, "process_files_open_files", "Open file descriptors"},
    {Measure::kMaxFiles, kGauge, "process_files_max_files", "Most file descriptors that may be open"},
    {Measure::kBuffers, kGauge, "jvm_buffer_count_buffers", "Buffers"},
    {Measure::kBufferUsed, kGauge, "jvm_buffer_memory_used_bytes", "Memory of the buffers"},
    {Measure::kBufferCapacity, kGauge, "jvm_buffer_total_capacity_bytes", "Capacity of the buffers"},
};

constexpr FamilyName kClientJavaNames[] = {
    {Measure::kHeapUsed, kGauge, "jvm_memory_used_bytes", "Used bytes of the memory area"},
    {Measure::kHeapCommitted, kGauge, "jvm_memory_committed_bytes", "Committed bytes of the memory area"},
    {Measure::kHeapMax, kGauge, "jvm_memory_max_bytes", "Largest size of the memory area in bytes"},
    {Measure::kPoolUsed, kGauge, "jvm_memory_pool_used_bytes", "Used bytes of the memory pool"},
    {Measure::kPoolCommitted, kGauge, "jvm_memory_pool_committed_bytes", "Committed bytes of the memory pool"},
    {Measure::kPoolMax, kGauge, "jvm_memory_pool_max_bytes", "Largest size of the memory pool in bytes"},
    {Measure::kCollections, kSummary, "jvm_gc_collection_seconds", "Time in collections"},
    {Measure::kThreads, kGauge, "jvm_threads_current", "Live platform threads"},
    {Measure::kDaemonThreads, kGauge, "jvm_threads_daemon", "Live daemon threads"},
    {Measure::kPeakThreads, kGauge, "jvm_threads_peak", "Most threads that lived at a time"},
    {Measure::kStartedThreads, kCounter, "jvm_threads_started", "Threads started"},
    {Measure::kThreadsByState, kGauge, "jvm_threads_state", "Platform threads in each state"},
    {Measure::kClasses, kGauge, "jvm_classes_currently_loaded", "Classes that are loaded"},
    {Measure::kLoadedClasses, kCounter, "jvm_classes_loaded", "Classes loaded since the start"},
    {Measure::kUnloadedClasses, kCounter, "jvm_classes_unloaded", "Classes unloaded since the start"},
    {Measure::kCompilationSeconds, kCounter, "jvm_compilation_time_seconds", "Time spent in compilation"},
    {Measure::kBufferUsed, kGauge, "jvm_buffer_pool_used_bytes", "Memory of the buffers"},
    {Measure::kBufferCapacity, kGauge, "jvm_buffer_pool_capacity_bytes", "Capacity of the buffers"},
    {Measure::kBuffers, kGauge, "jvm_buffer_pool_used_buffers", "Buffers"},
    {Measure::kCpuSeconds, kCounter, "process_cpu_seconds", "Processor time of the process"},
    {Measure::kStart, kGauge, "process_start_time_seconds", "Start of the JVM since the epoch"},
    {Measure::kOpenFiles, kGauge, "process_open_fds", "Open file descriptors"},
    {Measure::kMaxFiles, kGauge, "process_max_fds", "Most file descriptors that may be open"},
    {Measure::kVirtual, kGauge, "process_virtual_memory_bytes", "Virtual memory in bytes"},
    {Measure::kResident, kGauge, "process_resident_memory_bytes", "Resident memory in bytes"},
};

// Labels in the order of Attribute.
constexpr std::array<Convention, 4> kConventions = {{
    {"hotspot", {}, {}, {}},
    {"otel",
     kOtelNames,
     "main",
     {"", "jvm_memory_type", "jvm_memory_pool_name", "jvm_gc_name", "jvm_gc_action", "", "jvm_thread_daemon",
      "jvm_thread_state", "jvm_buffer_pool_name"}},
    {"micrometer", kMicrometerNames, "application", {"", "area", "id", "gc", "action", "cause", "", "state", "id"}},
    {"client_java", kClientJavaNames, "main", {"area", "", "pool", "gc", "", "", "", "state", "pool"}},
}};

constexpr std::array<std::string_view, kAttributes> kOtlpNames = {
    "", "jvm.memory.type",   "jvm.memory.pool.name", "jvm.gc.name",          "jvm.gc.action",
    "", "jvm.thread.daemon", "jvm.thread.state",     "jvm.buffer.pool.name",
};

bool is_about_pauses(const FamilyName& family) {
  return family.measure == Measure::kPauses || family.measure == Measure::kCollectionsByCause;
}

}  // namespace

std::string Convention::spelling(Attribute attribute, std::string_view value) const {
  std::string text(value);
  const bool otel = families.data() == kOtelNames, micrometer = families.data() == kMicrometerNames;
  if (attribute == Attribute::kArea && otel && value == kNonHeap) return "non_heap";
  if (attribute != Attribute::kState || !(otel || micrometer)) return text;
  for (char& c : text) c = c == '_' ? (otel ? '_' : '-') : static_cast<char>(c | 0x20);
  return text;
}

const Convention& convention_of(Naming naming) { return kConventions[static_cast<std::size_t>(naming)]; }

std::string_view otlp_name(Attribute attribute) { return kOtlpNames[static_cast<std::size_t>(attribute)]; }

std::optional<Naming> naming_of(std::string_view name) {
  for (std::size_t i = 0; i < kConventions.size(); ++i)
    if (kConventions[i].name == name) return static_cast<Naming>(i);
  return std::nullopt;
}

bool shows_pauses(Naming naming) {
  const auto families = convention_of(naming).families;
  return std::any_of(families.begin(), families.end(), is_about_pauses);
}

}  // namespace jtrace::perfdata
