#include "perfdata/openmetrics.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "base/bytes.h"
#include "base/strings.h"
#include "perfdata/jvm_listing.h"

namespace jtrace::perfdata {
namespace {

bool all_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// "lastEntryTime" becomes "last_entry_time"; characters that a metric's name may not have become '_'.
std::string snake_case(std::string_view text) {
  std::string snake;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool upper = std::isupper(c) != 0;
    // A single last letter ("PrivateB") would be read as a unit.
    const bool after_lower =
        i > 0 && i + 1 < text.size() && (std::islower(static_cast<unsigned char>(text[i - 1])) != 0);
    const bool before_lower =
        i > 0 && i + 1 < text.size() && std::islower(static_cast<unsigned char>(text[i + 1])) != 0;
    if (upper && (after_lower || before_lower) && !snake.empty() && snake.back() != '_') snake += '_';
    const char low = std::isalnum(c) != 0 && c < 128 ? static_cast<char>(std::tolower(c)) : '_';
    if (low != '_' || (!snake.empty() && snake.back() != '_')) snake += low;
  }
  while (!snake.empty() && snake.back() == '_') snake.pop_back();
  return snake;
}

// Left out by default: readers of metrics need not see the command line.
bool is_argument(std::string_view name) {
  return name.starts_with("java.property.") || name.starts_with("sun.property.") || name.starts_with("java.rt.vm") ||
         name == "sun.rt.javaCommand";
}

// A text that changes with every compilation would make a new series each time.
bool is_worth_a_series(const Row& row) {
  return row.variability == static_cast<std::uint8_t>(Variability::kConstant) || row.name.starts_with("sun.gc.");
}

std::string_view unit_suffix(Quantity quantity) {
  switch (quantity) {
    case Quantity::kBytes:
    case Quantity::kWords: return "bytes";
    case Quantity::kTicks:
    case Quantity::kCpuTime:
    case Quantity::kMillis:
    case Quantity::kEpochMillis: return "seconds";
    case Quantity::kPercent: return "ratio";
    case Quantity::kHertz: return "hertz";
    default: return "";
  }
}

std::string help_of(const Row& row) {
  std::string help = "HotSpot counter ";
  for (const char c : row.name) help += c >= ' ' && c < 127 && c != '\\' ? c : '_';
  if (row.metadata.freshness == Freshness::kGc) help += ", changes only at a collection";
  return help;
}

// Prometheus reserves these endings.
bool is_reserved(std::string_view name) {
  for (std::string_view end : {"_total", "_count", "_sum", "_bucket", "_created", "_info"})
    if (name.ends_with(end)) return true;
  return false;
}

}  // namespace

// Collects some ten kilobytes before it appends them to the string, because a scrape consists of hundreds of thousands
// of small pieces. Always inlined: in a large unit (JTRACE_UNITY) GCC would not, and a scrape took a quarter longer.
class SampleBuffer {
 public:
  explicit SampleBuffer(std::string& out) : out_(out) {}
  ~SampleBuffer() { flush(); }
  SampleBuffer(const SampleBuffer&) = delete;
  SampleBuffer& operator=(const SampleBuffer&) = delete;

  [[gnu::always_inline]] void put(std::string_view text) {
    if (text.size() > kSize - used_) {
      flush();
      if (text.size() > kSize) return void(out_.append(text));
    }
    std::memcpy(bytes_ + used_, text.data(), text.size());
    used_ += text.size();
  }
  template <class Number>
  [[gnu::always_inline]] void put_number(Number number) {
    if (kSize - used_ < 32) flush();
    used_ = static_cast<std::size_t>(std::to_chars(bytes_ + used_, bytes_ + kSize, number).ptr - bytes_);
  }
  // raw / 10^digits, without zeros at its end.
  void put_scaled(std::int64_t raw, int digits) {
    auto magnitude = static_cast<std::uint64_t>(raw);
    if (raw < 0) {
      put("-");
      magnitude = -magnitude;
    }
    std::uint64_t unit = 1;
    for (int i = 0; i < digits; ++i) unit *= 10;
    put_number(magnitude / unit);
    std::uint64_t rest = magnitude % unit;
    if (rest == 0) return;
    char fraction[20];
    for (int i = digits - 1; i >= 0; --i, rest /= 10) fraction[i] = static_cast<char>('0' + rest % 10);
    while (fraction[digits - 1] == '0') --digits;
    put(".");
    put({fraction, static_cast<std::size_t>(digits)});
  }
  void flush() {
    out_.append(bytes_, used_);
    used_ = 0;
  }

 private:
  static constexpr std::size_t kSize = 16384;
  std::string& out_;
  std::size_t used_ = 0;
  char bytes_[kSize];
};

namespace {

void put_quantity(SampleBuffer& out, Quantity quantity, std::int64_t raw, const VmTraits& traits) {
  switch (quantity) {
    case Quantity::kPercent: return out.put_number(static_cast<double>(raw) / 100);
    case Quantity::kTicks:
      return traits.ticks_per_second == 1e9 ? out.put_scaled(raw, 9)
                                            : out.put_number(quantity_value(quantity, raw, traits));
    case Quantity::kCpuTime: return out.put_scaled(raw, 9);
    case Quantity::kMillis:
    case Quantity::kEpochMillis: return out.put_scaled(raw, 3);
    // Unsigned, so that a hostile number wraps around instead of being undefined.
    case Quantity::kWords: return out.put_number(static_cast<std::int64_t>(static_cast<std::uint64_t>(raw) * 8));
    default: return out.put_number(raw);
  }
}

}  // namespace

void append_label_value(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
}

std::string main_of(const Snapshot& snapshot) {
  return main_class_of(utf8_from_modified(snapshot.text_value("sun.rt.javaCommand").value_or("")), true);
}

void append_jvm_counts(std::string& out, std::size_t read, std::size_t refused) {
  out += "# HELP hsperf_jvms JVMs whose counters are read\n# TYPE hsperf_jvms gauge\n";
  out += "hsperf_jvms " + std::to_string(read) + "\n";
  out += "# HELP hsperf_jvms_refused JVMs whose counters cannot be read\n# TYPE hsperf_jvms_refused gauge\n";
  out += "hsperf_jvms_refused " + std::to_string(refused) + "\n";
}

std::string_view content_type(MetricsFormat format) {
  return format == MetricsFormat::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                               : "text/plain; version=0.0.4; charset=utf-8";
}

MetricName metric_name(std::string_view counter) {
  MetricName metric{.name = "hsperf"};
  std::string_view before = "index";
  for (const std::string_view part : split(counter, '.')) {
    if (!all_digits(part)) {
      const std::string snake = snake_case(part);
      if (!snake.empty()) metric.name.append("_").append(snake);
      before = part;
      continue;
    }
    if (!metric.labels.empty()) metric.labels += ',';
    const std::string label = snake_case(before);
    metric.labels.append(label.empty() || all_digits(label.substr(0, 1)) ? "index" : label).append("=\"");
    metric.labels.append(part).append("\"");
  }
  return metric;
}

void MetricsWriter::clear() {
  jvms_.clear();
  families_.clear();
}

std::uint32_t MetricsWriter::label_number(const std::string& text) {
  const auto [found, added] = label_numbers_.try_emplace(text, static_cast<std::uint32_t>(label_texts_.size()));
  if (added) label_texts_.push_back(text);
  return found->second;
}

const MetricName& MetricsWriter::name_of(std::string_view counter) {
  const auto [found, added] = names_.try_emplace(std::string(counter));
  if (added) found->second = metric_name(counter);
  return found->second;
}

std::size_t MetricsWriter::add(const Snapshot& snapshot, std::int64_t pid) {
  const CounterTable table(snapshot, options_.filter, false);
  Jvm jvm{.layout = snapshot.shared_layout(), .traits = table.traits(), .labels = {}};
  if (pid != 0) jvm.labels = "pid=\"" + std::to_string(pid) + "\",";
  jvm.labels += "main=\"";
  append_label_value(jvm.labels, main_of(snapshot));
  jvm.labels += '"';
  jvms_.push_back(std::move(jvm));
  for (const Row& row : table.rows()) add_row(snapshot, table, row);
  return jvms_.size() - 1;
}

void MetricsWriter::add_row(const Snapshot& snapshot, const CounterTable& table, const Row& row) {
  if (row.is_text() && (row.counter->kind != ValueKind::kText || !is_worth_a_series(row))) return;
  if (!options_.arguments && is_argument(row.name)) return;
  MetricName metric = name_of(row.name);
  Family family;
  family.unit = unit_suffix(row.metadata.quantity);
  if (row.is_text()) family.type = Type::kInfo;
  else if (row.variability == static_cast<std::uint8_t>(Variability::kMonotonic)) family.type = Type::kCounter;
  if (!family.unit.empty() && !metric.name.ends_with("_" + family.unit)) metric.name.append("_").append(family.unit);
  if (family.type == Type::kGauge && is_reserved(metric.name) && family.unit.empty()) metric.name += "_value";
  if (family.type == Type::kCounter && metric.name.ends_with("_total")) metric.name.resize(metric.name.size() - 6);
  auto place = families_.find(metric.name);
  if (place == families_.end()) {
    family.help = help_of(row);
    place = families_.emplace(metric.name, std::move(family)).first;
  }
  Family& kept = place->second;
  // If a JVM declares a counter of this name differently, the counter cannot be in the same family.
  if (kept.unit != unit_suffix(row.metadata.quantity) || (kept.type == Type::kInfo) != row.is_text()) return;
  const bool changes = row.variability != static_cast<std::uint8_t>(Variability::kConstant);
  if (row.is_text() && !changes) {
    if (!metric.labels.empty()) metric.labels += ',';
    metric.labels += "value=\"";
    append_label_value(metric.labels, table.text_value(snapshot, row, options_.show_secrets));
    metric.labels += '"';
  }
  const auto jvm = static_cast<std::uint32_t>(jvms_.size() - 1);
  const std::uint32_t labels = label_number(metric.labels);
  if (!kept.series.empty() && kept.series.back().jvm == jvm && kept.series.back().labels == labels)
    return;  // a duplicate name
  kept.series.push_back({.jvm = jvm,
                         .labels = labels,
                         .value_offset = row.counter->value_offset,
                         .quantity = row.metadata.quantity,
                         .text = row.is_text() && changes ? row.counter : nullptr});
}

void MetricsWriter::append_head(std::string& out, const std::string& name, const Family& family,
                                MetricsFormat format) const {
  static constexpr std::string_view kTypes[] = {"counter", "gauge", "info"};
  const bool open = format == MetricsFormat::kOpenMetrics;
  std::string shown = name;
  std::string_view type = kTypes[static_cast<std::size_t>(family.type)];
  if (!open && family.type == Type::kCounter) shown += "_total";
  if (!open && family.type == Type::kInfo) {
    shown += "_info";
    type = "gauge";
  }
  out.append("# HELP ").append(shown).append(" ").append(family.help);
  out.append("\n# TYPE ").append(shown).append(" ").append(type).append("\n");
  if (open && !family.unit.empty()) out.append("# UNIT ").append(shown).append(" ").append(family.unit).append("\n");
}

void MetricsWriter::append_sample(SampleBuffer& out, const std::string& stem, const Family& family,
                                  const Series& series, const Now& now) const {
  const Jvm& jvm = jvms_[series.jvm];
  out.put(stem);
  out.put(jvm.labels);
  if (const std::string& labels = label_texts_[series.labels]; !labels.empty()) {
    out.put(",");
    out.put(labels);
  }
  if (series.text) {
    std::string value;  // of sun.gc.*: no secrets
    append_label_value(value, utf8_from_modified(now.snapshot->text_value(*series.text)));
    out.put(",value=\"");
    out.put(value);
    out.put("\"");
  }
  if (family.type == Type::kInfo) return out.put("} 1\n");
  out.put("} ");
  std::int64_t raw = 0;
  if (series.value_offset + sizeof raw <= now.bytes.size())
    std::memcpy(&raw, now.bytes.data() + series.value_offset, sizeof raw);
  put_quantity(out, series.quantity, now.swapped ? byte_swapped(raw) : raw, jvm.traits);
  out.put("\n");
}

void MetricsWriter::append(std::string& out, const std::vector<const Snapshot*>& snapshots,
                           MetricsFormat format) const {
  static constexpr std::string_view kSuffixes[] = {"_total", "", "_info"};
  std::vector<Now> now(jvms_.size());
  for (std::size_t i = 0; i < std::min(now.size(), snapshots.size()); ++i)
    if (snapshots[i] && is_current(i, *snapshots[i]))
      now[i] = {.bytes = snapshots[i]->bytes(),
                .swapped = snapshots[i]->prologue().byte_order != std::endian::native,
                .snapshot = snapshots[i]};
  for (const auto& [name, family] : families_) {
    const std::string stem = name + std::string(kSuffixes[static_cast<std::size_t>(family.type)]) + "{";
    const auto is_there = [&](const Series& series) { return !now[series.jvm].bytes.empty(); };
    if (std::none_of(family.series.begin(), family.series.end(), is_there)) continue;
    append_head(out, name, family, format);
    SampleBuffer samples(out);
    for (std::size_t i = 0; i < family.series.size(); ++i) {
      // With a thousand JVMs each value is a cache miss: prefetches values while earlier ones are formatted.
      constexpr std::size_t kAhead = 8;
      if (i + kAhead < family.series.size()) {
        const Series& soon = family.series[i + kAhead];
        __builtin_prefetch(now[soon.jvm].bytes.data() + soon.value_offset);
      }
      const Series& series = family.series[i];
      if (is_there(series)) append_sample(samples, stem, family, series, now[series.jvm]);
    }
  }
  if (format == MetricsFormat::kOpenMetrics) out += "# EOF\n";
}

}  // namespace jtrace::perfdata
