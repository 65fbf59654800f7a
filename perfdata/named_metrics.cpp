#include "perfdata/named_metrics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace jtrace::perfdata {
namespace {

// What a family shows. Those with a bean each have one sample a bean.
enum class Measure : std::uint8_t {
  kPoolUsed,
  kPoolCommitted,
  kPoolMax,
  kHeapUsed,
  kHeapCommitted,
  kHeapMax,
  kCollections,  // a summary: count and sum
  kPauses,       // a histogram
  kMissedPauses,
  kThreads,
  kDaemonThreads,
  kThreadsByDaemon,
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
};

struct FamilyName {
  Measure measure;
  std::string_view type;  // of Prometheus
  std::string_view name;  // without _total
  std::string_view help;
};

constexpr FamilyName kOtelNames[] = {
    {Measure::kPoolUsed, "gauge", "jvm_memory_used_bytes", "Memory used"},
    {Measure::kPoolCommitted, "gauge", "jvm_memory_committed_bytes", "Memory committed"},
    {Measure::kPoolMax, "gauge", "jvm_memory_limit_bytes", "Largest size of the memory pool"},
    {Measure::kPauses, "histogram", "jvm_gc_duration_seconds",
     "Duration of pauses for collections, of those that were seen"},
    {Measure::kMissedPauses, "counter", "hsperf_gc_pauses_missed", "Pauses that jvm_gc_duration_seconds lacks"},
    {Measure::kThreadsByDaemon, "gauge", "jvm_thread_count", "Platform threads"},
    {Measure::kLoadedClasses, "counter", "jvm_class_loaded", "Classes loaded since the start"},
    {Measure::kUnloadedClasses, "counter", "jvm_class_unloaded", "Classes unloaded since the start"},
    {Measure::kClasses, "gauge", "jvm_class_count", "Classes that are loaded"},
    {Measure::kCpuSeconds, "counter", "jvm_cpu_time_seconds", "Processor time of the process"},
};

constexpr FamilyName kMicrometerNames[] = {
    {Measure::kPoolUsed, "gauge", "jvm_memory_used_bytes", "The amount of used memory"},
    {Measure::kPoolCommitted, "gauge", "jvm_memory_committed_bytes", "The amount of committed memory"},
    {Measure::kPoolMax, "gauge", "jvm_memory_max_bytes", "The largest amount of memory"},
    {Measure::kCollections, "summary", "jvm_gc_pause_seconds", "Time in pauses for collections"},
    {Measure::kThreads, "gauge", "jvm_threads_live_threads", "Live platform threads"},
    {Measure::kDaemonThreads, "gauge", "jvm_threads_daemon_threads", "Live daemon threads"},
    {Measure::kPeakThreads, "gauge", "jvm_threads_peak_threads", "Most threads that lived at a time"},
    {Measure::kStartedThreads, "counter", "jvm_threads_started_threads", "Threads started"},
    {Measure::kClasses, "gauge", "jvm_classes_loaded_classes", "Classes that are loaded"},
    {Measure::kUnloadedClasses, "counter", "jvm_classes_unloaded_classes", "Classes unloaded since the start"},
    {Measure::kCompilationMillis, "counter", "jvm_compilation_time_ms", "Time spent in compilation"},
    {Measure::kUptime, "gauge", "process_uptime_seconds", "Time since the start of the JVM"},
    {Measure::kStart, "gauge", "process_start_time_seconds", "Start of the JVM since the epoch"},
    {Measure::kOpenFiles, "gauge", "process_files_open_files", "Open file descriptors"},
    {Measure::kMaxFiles, "gauge", "process_files_max_files", "Most file descriptors that may be open"},
};

constexpr FamilyName kClientJavaNames[] = {
    {Measure::kHeapUsed, "gauge", "jvm_memory_used_bytes", "Used bytes of the memory area"},
    {Measure::kHeapCommitted, "gauge", "jvm_memory_committed_bytes", "Committed bytes of the memory area"},
    {Measure::kHeapMax, "gauge", "jvm_memory_max_bytes", "Largest size of the memory area in bytes"},
    {Measure::kPoolUsed, "gauge", "jvm_memory_pool_used_bytes", "Used bytes of the memory pool"},
    {Measure::kPoolCommitted, "gauge", "jvm_memory_pool_committed_bytes", "Committed bytes of the memory pool"},
    {Measure::kPoolMax, "gauge", "jvm_memory_pool_max_bytes", "Largest size of the memory pool in bytes"},
    {Measure::kCollections, "summary", "jvm_gc_collection_seconds", "Time in collections"},
    {Measure::kThreads, "gauge", "jvm_threads_current", "Live platform threads"},
    {Measure::kDaemonThreads, "gauge", "jvm_threads_daemon", "Live daemon threads"},
    {Measure::kPeakThreads, "gauge", "jvm_threads_peak", "Most threads that lived at a time"},
    {Measure::kStartedThreads, "counter", "jvm_threads_started", "Threads started"},
    {Measure::kClasses, "gauge", "jvm_classes_currently_loaded", "Classes that are loaded"},
    {Measure::kLoadedClasses, "counter", "jvm_classes_loaded", "Classes loaded since the start"},
    {Measure::kUnloadedClasses, "counter", "jvm_classes_unloaded", "Classes unloaded since the start"},
    {Measure::kCompilationSeconds, "counter", "jvm_compilation_time_seconds", "Time spent in compilation"},
    {Measure::kCpuSeconds, "counter", "process_cpu_seconds", "Processor time of the process"},
    {Measure::kStart, "gauge", "process_start_time_seconds", "Start of the JVM since the epoch"},
    {Measure::kOpenFiles, "gauge", "process_open_fds", "Open file descriptors"},
    {Measure::kMaxFiles, "gauge", "process_max_fds", "Most file descriptors that may be open"},
    {Measure::kVirtual, "gauge", "process_virtual_memory_bytes", "Virtual memory in bytes"},
    {Measure::kResident, "gauge", "process_resident_memory_bytes", "Resident memory in bytes"},
};

// The names of labels; "": the convention has none.
struct LabelNames {
  std::string_view main, area, area_of_pool, pool, collector, action, daemon;
};

struct Convention {
  std::string_view name;
  std::span<const FamilyName> families;
  LabelNames labels;
};

constexpr std::array<Convention, 4> kConventions = {{
    {"hotspot", {}, {}},
    {"otel",
     kOtelNames,
     {"main", "", "jvm_memory_type", "jvm_memory_pool_name", "jvm_gc_name", "jvm_gc_action", "jvm_thread_daemon"}},
    {"micrometer", kMicrometerNames, {"application", "", "area", "id", "gc", "action", ""}},
    {"client_java", kClientJavaNames, {"main", "area", "", "pool", "gc", "", ""}},
}};

const Convention& convention_of(Naming naming) { return kConventions[static_cast<std::size_t>(naming)]; }

std::string text_of(double number) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

class Writer {
 public:
  Writer(std::string& out, const Convention& convention, MetricsFormat format)
      : out_(out), names_(convention.labels), open_(format == MetricsFormat::kOpenMetrics) {}

  void write(const FamilyName& family, std::span<const NamedJvm> jvms) {
    family_ = &family;
    const std::size_t begin = out_.size();
    append_head();
    const std::size_t samples = out_.size();
    for (const NamedJvm& each : jvms) {
      jvm_ = &each;
      append_samples(each);
    }
    if (out_.size() == samples) out_.resize(begin);
  }

 private:
  bool is_counter() const { return family_->type == "counter"; }

  void append_head() {
    const std::string name = std::string(family_->name) + (is_counter() && !open_ ? "_total" : "");
    out_.append("# HELP ").append(name).append(" ").append(family_->help);
    out_.append("\n# TYPE ").append(name).append(" ").append(family_->type).append("\n");
  }

  static void add_label(std::string& labels, std::string_view name, std::string_view value) {
    if (name.empty()) return;
    labels.append(labels.empty() ? "" : ",").append(name).append("=\"");
    append_label_value(labels, value);
    labels += '"';
  }

  void sample(std::string_view suffix, const std::string& labels, const std::string& value) {
    std::string all;
    add_label(all, "pid", std::to_string(jvm_->pid));
    add_label(all, names_.main, jvm_->main);
    if (!labels.empty()) all.append(",").append(labels);
    out_.append(family_->name).append(is_counter() ? "_total" : suffix).append("{").append(all).append("} ");
    out_.append(value).append("\n");
  }
  void sample(const std::optional<std::int64_t>& value, const std::string& labels = "") {
    if (value) sample("", labels, std::to_string(*value));
  }
  void sample(const std::optional<double>& value) {
    if (value) sample("", "", text_of(*value));
  }

  void pools(std::optional<std::int64_t> PoolBean::*member) {
    for (const PoolBean& each : jvm_->beans.pools) {
      std::string labels;
      add_label(labels, names_.area_of_pool, "heap");
      add_label(labels, names_.pool, each.name);
      sample(each.*member, labels);
    }
  }

  void of_heap(const std::optional<std::int64_t>& value) {
    std::string labels;
    add_label(labels, names_.area, "heap");
    sample(value, labels);
  }

  std::string labels_of(const CollectorBean& bean) const {
    std::string labels;
    add_label(labels, names_.collector, bean.name);
    add_label(labels, names_.action, bean.action);
    return labels;
  }

  void collections() {
    for (const CollectorBean& each : jvm_->beans.collectors) {
      sample("_count", labels_of(each), std::to_string(each.count));
      sample("_sum", labels_of(each), text_of(each.seconds));
    }
  }

  void pauses() {
    if (jvm_->durations == nullptr) return;
    for (const CollectorBean& each : jvm_->beans.collectors) {
      const GcDurations::Histogram histogram = jvm_->durations->of(each.collector);
      const std::string labels = labels_of(each);
      std::int64_t count = 0;
      for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        count += histogram.counts[i];
        std::string with_end = labels;
        add_label(with_end, "le", i < kGcDurationBounds.size() ? end_text(kGcDurationBounds[i]) : "+Inf");
        sample("_bucket", with_end, std::to_string(count));
      }
      sample("_count", labels, std::to_string(count));
      sample("_sum", labels, text_of(histogram.sum));
    }
  }

  // OpenMetrics: a number with a point, so that it is one text everywhere.
  static std::string end_text(double end) {
    std::string text = text_of(end);
    return text.find('.') == std::string::npos ? text + ".0" : text;
  }

  void threads_by_daemon() {
    const auto &all = jvm_->beans.threads, &daemons = jvm_->beans.daemon_threads;
    if (!all || !daemons) return;
    for (const bool daemon : {false, true}) {
      std::string labels;
      add_label(labels, names_.daemon, daemon ? "true" : "false");
      sample(daemon ? *daemons : *all - *daemons, labels);
    }
  }

  void append_samples(const NamedJvm& jvm) {
    const MxBeans& beans = jvm.beans;
    switch (family_->measure) {
      case Measure::kPoolUsed: return pools(&PoolBean::used);
      case Measure::kPoolCommitted: return pools(&PoolBean::committed);
      case Measure::kPoolMax: return pools(&PoolBean::max);
      case Measure::kHeapUsed: return of_heap(beans.heap_used);
      case Measure::kHeapCommitted: return of_heap(beans.heap_committed);
      case Measure::kHeapMax: return of_heap(beans.heap_max);
      case Measure::kCollections: return collections();
      case Measure::kPauses: return pauses();
      case Measure::kMissedPauses: return sample(jvm.durations ? std::optional(jvm.durations->missed()) : std::nullopt);
      case Measure::kThreads: return sample(beans.threads);
      case Measure::kDaemonThreads: return sample(beans.daemon_threads);
      case Measure::kThreadsByDaemon: return threads_by_daemon();
      case Measure::kPeakThreads: return sample(beans.peak_threads);
      case Measure::kStartedThreads: return sample(beans.started_threads);
      case Measure::kClasses: return sample(beans.classes());
      case Measure::kLoadedClasses: return sample(beans.loaded_classes);
      case Measure::kUnloadedClasses: return sample(beans.unloaded_classes);
      case Measure::kCompilationSeconds: return sample(beans.compilation_seconds);
      case Measure::kCompilationMillis:
        return sample(beans.compilation_seconds ? std::optional(*beans.compilation_seconds * 1000) : std::nullopt);
      case Measure::kCpuSeconds: return sample(jvm.process.cpu_seconds);
      case Measure::kStart: return sample(beans.start_seconds);
      case Measure::kUptime: return sample(beans.uptime_seconds);
      case Measure::kResident: return sample(jvm.process.resident_bytes);
      case Measure::kVirtual: return sample(jvm.process.virtual_bytes);
      case Measure::kOpenFiles: return sample(jvm.process.open_files);
      case Measure::kMaxFiles: return sample(jvm.process.max_files);
    }
  }

  std::string& out_;
  const LabelNames& names_;
  const bool open_;
  const FamilyName* family_ = nullptr;
  const NamedJvm* jvm_ = nullptr;
};

}  // namespace

std::optional<Naming> naming_of(std::string_view name) {
  for (std::size_t i = 0; i < kConventions.size(); ++i)
    if (kConventions[i].name == name) return static_cast<Naming>(i);
  return std::nullopt;
}

bool shows_pauses(Naming naming) {
  const auto families = convention_of(naming).families;
  return std::any_of(families.begin(), families.end(),
                     [](const FamilyName& each) { return each.measure == Measure::kPauses; });
}

void append_named_metrics(std::string& out, std::span<const NamedJvm> jvms, Naming naming, MetricsFormat format) {
  const Convention& convention = convention_of(naming);
  Writer writer(out, convention, format);
  for (const FamilyName& each : convention.families) writer.write(each, jvms);
}

}  // namespace jtrace::perfdata
