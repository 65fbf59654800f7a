#include "perfdata/openmetrics.h"

#include <cctype>
#include <charconv>
#include <cstring>

#include "base/bytes.h"
#include "base/strings.h"
#include "perfdata/jvm_listing.h"

namespace jtrace::perfdata {
namespace {

// OpenMetrics: backslash, quote and newline are escaped in label values.
void append_label_value(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
}

bool all_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// "lastEntryTime" -> "last_entry_time"; what a metric's name may not hold becomes '_'.
std::string snake_case(std::string_view text) {
  std::string snake;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool upper = std::isupper(c) != 0;
    // A last letter by itself ("PrivateB") would be taken for a unit.
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

// Kept out unless asked for: who reads metrics need not know the command line.
bool is_argument(std::string_view name) {
  return name.starts_with("java.property.") || name.starts_with("sun.property.") || name.starts_with("java.rt.vm") ||
         name == "sun.rt.javaCommand";
}

// Text that takes a new value with every compilation would make a new series each time.
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
  if (row.metadata.freshness == Freshness::kGc) help += ", moves at a collection only";
  return help;
}

// Prometheus keeps these endings for its own.
bool is_reserved(std::string_view name) {
  for (std::string_view end : {"_total", "_count", "_sum", "_bucket", "_created", "_info"})
    if (name.ends_with(end)) return true;
  return false;
}

void append_number(std::string& out, double number) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

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

std::size_t MetricsWriter::add(const Snapshot& snapshot, std::int64_t pid) {
  Jvm jvm;
  jvm.table = std::make_unique<CounterTable>(snapshot, options_.filter, false);
  if (pid != 0) jvm.labels = "pid=\"" + std::to_string(pid) + "\",";
  const std::string command = utf8_from_modified(snapshot.text_value("sun.rt.javaCommand").value_or(""));
  jvm.labels += "main=\"";
  append_label_value(jvm.labels, main_class_of(command, true));
  jvm.labels += '"';
  jvms_.push_back(std::move(jvm));
  for (std::size_t row = 0; row < jvms_.back().table->rows().size(); ++row) add_row(jvms_.size() - 1, row);
  return jvms_.size() - 1;
}

void MetricsWriter::add_row(std::size_t jvm, std::size_t index) {
  const Row& row = jvms_[jvm].table->rows()[index];
  if (row.is_text() && (row.counter->kind != ValueKind::kText || !is_worth_a_series(row))) return;
  if (!options_.arguments && is_argument(row.name)) return;
  MetricName metric = metric_name(row.name);
  Family family;
  family.unit = unit_suffix(row.metadata.quantity);
  if (row.is_text()) family.type = Type::kInfo;
  else if (row.variability == static_cast<std::uint8_t>(Variability::kMonotonic)) family.type = Type::kCounter;
  if (!family.unit.empty() && !metric.name.ends_with("_" + family.unit)) metric.name.append("_").append(family.unit);
  if (family.type == Type::kGauge && is_reserved(metric.name) && family.unit.empty()) metric.name += "_value";
  if (family.type == Type::kCounter && metric.name.ends_with("_total")) metric.name.resize(metric.name.size() - 6);
  family.help = help_of(row);
  Family& kept = families_.try_emplace(metric.name, std::move(family)).first->second;
  // A JVM that declares a counter of this name otherwise cannot stand in the same family.
  if (kept.unit != unit_suffix(row.metadata.quantity) || (kept.type == Type::kInfo) != row.is_text()) return;
  if (!kept.series.empty() && kept.series.back().jvm == jvm &&
      label_texts_[kept.series.back().labels] == metric.labels && row.counter)
    return;  // a name that stands twice
  kept.series.push_back({.jvm = static_cast<std::uint32_t>(jvm),
                         .row = static_cast<std::uint32_t>(index),
                         .labels = label_number(metric.labels),
                         .value_offset = row.counter ? row.counter->value_offset : 0,
                         .quantity = row.metadata.quantity});
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

void MetricsWriter::append_sample(std::string& out, const std::string& stem, const Family& family, const Series& series,
                                  const Now& now) const {
  const Jvm& jvm = jvms_[series.jvm];
  const std::string& labels = label_texts_[series.labels];
  out.append(stem).append(jvm.labels);
  if (!labels.empty()) out.append(",").append(labels);
  if (family.type == Type::kInfo) {
    const Row& row = jvm.table->rows()[series.row];
    out += ",value=\"";
    append_label_value(out, jvm.table->text_value(*now.snapshot, row, options_.show_secrets));
    out += "\"} 1\n";
    return;
  }
  out += "} ";
  // Straight from the bytes: with a thousand JVMs each look at a table is a cache miss.
  std::int64_t raw = 0;
  if (series.value_offset + sizeof raw <= now.bytes.size())
    std::memcpy(&raw, now.bytes.data() + series.value_offset, sizeof raw);
  if (now.swapped) raw = byte_swapped(raw);
  const Quantity quantity = series.quantity;
  if (quantity == Quantity::kPercent) append_number(out, static_cast<double>(raw) / 100);
  else if (unit_suffix(quantity) == "seconds") append_number(out, quantity_value(quantity, raw, jvm.table->traits()));
  else append_quantity(out, quantity, raw, jvm.table->traits());
  out += '\n';
}

void MetricsWriter::append(std::string& out, const std::vector<const Snapshot*>& snapshots,
                           MetricsFormat format) const {
  static constexpr std::string_view kSuffixes[] = {"_total", "", "_info"};
  std::vector<Now> now(jvms_.size());
  for (std::size_t i = 0; i < std::min(now.size(), snapshots.size()); ++i)
    if (snapshots[i] && is_current(i, *snapshots[i]))
      now[i] = {.bytes = snapshots[i]->bytes(),
                .swapped = snapshots[i]->layout().prologue().byte_order != std::endian::native,
                .snapshot = snapshots[i]};
  for (const auto& [name, family] : families_) {
    bool headed = false;
    const std::string stem = name + std::string(kSuffixes[static_cast<std::size_t>(family.type)]) + "{";
    for (const Series& series : family.series) {
      if (now[series.jvm].bytes.empty()) continue;
      if (!headed) append_head(out, name, family, format);
      headed = true;
      append_sample(out, stem, family, series, now[series.jvm]);
    }
  }
  if (format == MetricsFormat::kOpenMetrics) out += "# EOF\n";
}

}  // namespace jtrace::perfdata
