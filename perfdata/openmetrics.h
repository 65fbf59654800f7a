// Counters of any number of JVMs as metrics: OpenMetrics 1.0 text, or Prometheus text 0.0.4 for clients without it.
//
//   sun.gc.collector.0.time  ->  hsperf_sun_gc_collector_time_seconds_total{pid="4711",main="app.Main",collector="0"}
//
// Numbers in a name become labels, units are base units and part of the name, names are snake_case. Text is an info
// metric; command lines, arguments and properties are left out unless asked for (they may contain passwords). The
// samples of a family are adjacent for any number of JVMs, so the text is laid out once for a set of JVMs and then only
// filled in. Ownership: shares the layouts. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "perfdata/counter_table.h"
#include "perfdata/snapshot.h"

namespace jtrace::perfdata {

enum class MetricsFormat : std::uint8_t { kOpenMetrics, kPrometheus };
std::string_view content_type(MetricsFormat format);
// OpenMetrics: backslash, quote and newline are escaped in label values.
void append_label_value(std::string& out, std::string_view text);
// The label `main` of a JVM: its main class, or the path of its jar.
std::string main_of(const Snapshot& snapshot);
// hsperf_jvms, hsperf_jvms_refused.
void append_jvm_counts(std::string& out, std::size_t read, std::size_t refused);

struct MetricsOptions {
  NameFilter filter = {};
  bool arguments = false;  // also command line, JVM arguments, properties
  bool show_secrets = false;
};

// The metric's name and labels for a counter's name: "sun.gc.collector.0.time" gives "hsperf_sun_gc_collector_time" and
// collector="0". For tests.
struct MetricName {
  std::string name;
  std::string labels;
};
MetricName metric_name(std::string_view counter);

class SampleBuffer;  // the text of the samples while it is built

class MetricsWriter {
 public:
  explicit MetricsWriter(MetricsOptions options) : options_(std::move(options)) {}

  // Adds the metrics of one more JVM to the layout; returns its number, from 0 up. `pid` 0: none.
  std::size_t add(const Snapshot& snapshot, std::int64_t pid);
  void clear();
  std::size_t size() const { return jvms_.size(); }

  // `snapshots[i]` is that of JVM i; null: left out this time. A snapshot with another layout than at add() is left out
  // too: is_current() shows that.
  void append(std::string& out, const std::vector<const Snapshot*>& snapshots, MetricsFormat format) const;
  bool is_current(std::size_t jvm, const Snapshot& snapshot) const {
    return snapshot.shared_layout() == jvms_[jvm].layout;
  }

 private:
  struct Jvm {
    std::shared_ptr<const Layout> layout;
    VmTraits traits;
    std::string labels;  // pid="...",main="..."
  };
  struct Series {
    std::uint32_t jvm;
    std::uint32_t labels;        // of label_texts_; for constant text including its value
    std::uint32_t value_offset;  // of a number in the region
    Quantity quantity;
    const Counter* text;  // of text that changes; belongs to the JVM's layout
  };
  enum class Type : std::uint8_t { kCounter, kGauge, kInfo };
  struct Family {
    Type type = Type::kGauge;
    std::string unit;  // "" if there is none
    std::string help;
    std::vector<Series> series;
  };
  // A JVM's region now; without bytes: left out this time.
  struct Now {
    std::span<const std::byte> bytes = {};
    bool swapped = false;
    const Snapshot* snapshot = nullptr;
  };
  void add_row(const Snapshot& snapshot, const CounterTable& table, const Row& row);
  const MetricName& name_of(std::string_view counter);
  std::uint32_t label_number(const std::string& text);
  void append_head(std::string& out, const std::string& name, const Family& family, MetricsFormat format) const;
  void append_sample(SampleBuffer& out, const std::string& stem, const Family& family, const Series& series,
                     const Now& now) const;

  MetricsOptions options_;
  std::vector<Jvm> jvms_;
  std::map<std::string, Family> families_;  // by name, without _total
  std::vector<std::string> label_texts_;
  std::map<std::string, std::uint32_t> label_numbers_;
  std::unordered_map<std::string, MetricName> names_;  // of all counters ever added
};

}  // namespace jtrace::perfdata
