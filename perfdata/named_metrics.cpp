#include "perfdata/named_metrics.h"

#include <charconv>

namespace jtrace::perfdata {
namespace {

std::string text_of(double number) {
  char buffer[64];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr};
}

// OpenMetrics: a number with a point, so that it is one text everywhere.
std::string end_text(double end) {
  std::string text = text_of(end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

std::string_view type_of(FamilyType type) {
  switch (type) {
    case FamilyType::kGauge:
    case FamilyType::kUpDown: return "gauge";
    case FamilyType::kCounter: return "counter";
    case FamilyType::kSummary: return "summary";
    case FamilyType::kHistogram: return "histogram";
  }
  return "";
}

void add_label(std::string& labels, std::string_view name, std::string_view value) {
  if (name.empty()) return;
  labels.append(labels.empty() ? "" : ",").append(name).append("=\"");
  append_label_value(labels, value);
  labels += '"';
}

class Writer {
 public:
  Writer(std::string& out, const Convention& convention, MetricsFormat format)
      : out_(out), convention_(convention), open_(format == MetricsFormat::kOpenMetrics) {}

  void write(const FamilyName& family, std::span<const NamedJvm> jvms) {
    family_ = &family;
    const std::size_t begin = out_.size();
    append_head();
    const std::size_t samples = out_.size();
    for (const NamedJvm& jvm : jvms)
      for (const Sample& each : samples_of(jvm, family.measure)) append(jvm, each);
    if (out_.size() == samples) out_.resize(begin);
  }

 private:
  bool is_counter() const { return family_->type == FamilyType::kCounter; }

  void append_head() {
    const std::string name = std::string(family_->name) + (is_counter() && !open_ ? "_total" : "");
    out_.append("# HELP ").append(name).append(" ").append(family_->help);
    out_.append("\n# TYPE ").append(name).append(" ").append(type_of(family_->type)).append("\n");
  }

  void line(std::string_view suffix, const std::string& labels, const std::string& value) {
    out_.append(family_->name).append(suffix).append("{").append(labels).append("} ").append(value).append("\n");
  }

  std::string labels_of(const NamedJvm& jvm, const Sample& sample) const {
    std::string labels;
    if (jvm.pid != 0) add_label(labels, "pid", std::to_string(jvm.pid));
    add_label(labels, convention_.main, jvm.main);
    for (const auto& [attribute, value] : sample.attributes)
      add_label(labels, convention_.labels[static_cast<std::size_t>(attribute)],
                convention_.spelling(attribute, value));
    return labels;
  }

  void append(const NamedJvm& jvm, const Sample& sample) {
    const std::string labels = labels_of(jvm, sample);
    const std::string_view suffix = is_counter() ? "_total" : "";
    if (const auto* whole = std::get_if<std::int64_t>(&sample.value)) line(suffix, labels, std::to_string(*whole));
    else if (const auto* number = std::get_if<double>(&sample.value)) line(suffix, labels, text_of(*number));
    else if (const auto* summary = std::get_if<Summary>(&sample.value)) append(labels, *summary);
    else append(labels, std::get<GcDurations::Histogram>(sample.value));
  }

  void append(const std::string& labels, const Summary& summary) {
    line("_count", labels, std::to_string(summary.count));
    line("_sum", labels, text_of(summary.sum));
  }

  void append(const std::string& labels, const GcDurations::Histogram& histogram) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
      count += histogram.counts[i];
      std::string with_end = labels;
      add_label(with_end, "le", i < kGcDurationBounds.size() ? end_text(kGcDurationBounds[i]) : "+Inf");
      line("_bucket", with_end, std::to_string(count));
    }
    append(labels, Summary{count, histogram.sum});
  }

  std::string& out_;
  const Convention& convention_;
  const bool open_;
  const FamilyName* family_ = nullptr;
};

}  // namespace

void append_named_metrics(std::string& out, std::span<const NamedJvm> jvms, Naming naming, MetricsFormat format) {
  const Convention& convention = convention_of(naming);
  Writer writer(out, convention, format);
  for (const FamilyName& each : convention.families) writer.write(each, jvms);
}

}  // namespace jtrace::perfdata
