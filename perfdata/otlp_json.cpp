#include "perfdata/otlp_json.h"

#include <cmath>

#include "base/json.h"
#include "perfdata/conventions.h"

namespace jtrace::perfdata {
namespace {

constexpr int kCumulative = 2;  // AGGREGATION_TEMPORALITY_CUMULATIVE

// Numbers of 64 bits.
template <std::integral T>
std::string text(T number) {
  return std::to_string(number);
}

// ns since the epoch; "" for a number that is no time.
std::string nanos_text(std::optional<double> seconds) {
  constexpr double kMost = 1e10;  // beyond that ns do not fit
  if (!seconds || !(*seconds > 0 && *seconds < kMost)) return "";
  return text(static_cast<std::uint64_t>(std::llround(*seconds * 1e3)) * 1'000'000);
}

class Request {
 public:
  Request(std::string& out, std::uint64_t now, std::string_view host) : json_(out), now_(text(now)), host_(host) {}

  void add(const NamedJvm& jvm) {
    start_ = nanos_text(jvm.beans.start_seconds);
    json_.begin_object().key("resource").begin_object();
    add_resource(jvm);
    json_.end_object().key("scopeMetrics").begin_array().begin_object();
    json_.key("scope").begin_object().member("name", "jtrace").member("version", JTRACE_VERSION).end_object();
    json_.key("metrics").begin_array();
    for (const FamilyName& each : convention_of(Naming::kOtel).families) add(jvm, each);
    json_.end_array().end_object().end_array().end_object();
  }

  JsonWriter& json() { return json_; }

 private:
  void attribute(std::string_view key, std::string_view type, std::string_view value) {
    json_.begin_object().member("key", key).key("value").begin_object().member(type, value).end_object().end_object();
  }

  void add_resource(const NamedJvm& jvm) {
    json_.key("attributes").begin_array();
    attribute("service.name", "stringValue", jvm.main.empty() ? "unknown_service:java" : jvm.main);
    // A process id is used again.
    attribute("service.instance.id", "stringValue", std::string(host_) + ":" + text(jvm.pid) + ":" + start_);
    attribute("process.pid", "intValue", text(jvm.pid));
    if (!host_.empty()) attribute("host.name", "stringValue", host_);
    if (!jvm.runtime.empty()) attribute("process.runtime.version", "stringValue", jvm.runtime);
    json_.end_array();
  }

  void add(const NamedJvm& jvm, const FamilyName& family) {
    const std::vector<Sample> samples = samples_of(jvm, family.measure);
    if (samples.empty()) return;
    const bool histogram = family.type == FamilyType::kHistogram;
    since_ = jvm.durations && (histogram || family.measure == Measure::kMissedPauses) ? text(jvm.durations->since())
                                                                                      : start_;
    json_.begin_object().member("name", family.otlp).member("description", family.help).member("unit", family.unit);
    json_.key(histogram ? "histogram" : "sum").begin_object().member("aggregationTemporality", kCumulative);
    if (!histogram) json_.member("isMonotonic", family.type == FamilyType::kCounter);
    json_.key("dataPoints").begin_array();
    for (const Sample& each : samples) add(each);
    json_.end_array().end_object().end_object();
  }

  void add(const Sample& sample) {
    json_.begin_object();
    add_attributes(sample);
    if (!since_.empty()) json_.member("startTimeUnixNano", since_);
    json_.member("timeUnixNano", now_);
    if (const auto* whole = std::get_if<std::int64_t>(&sample.value)) json_.member("asInt", text(*whole));
    else if (const auto* number = std::get_if<double>(&sample.value)) json_.member("asDouble", *number);
    else if (const auto* histogram = std::get_if<GcDurations::Histogram>(&sample.value)) add(*histogram);
    json_.end_object();
  }

  void add_attributes(const Sample& sample) {
    if (sample.attributes.empty()) return;
    const Convention& otel = convention_of(Naming::kOtel);
    json_.key("attributes").begin_array();
    for (const auto& [which, value] : sample.attributes) {
      const std::string spelt = otel.spelling(which, value);
      if (which != Attribute::kDaemon) {
        attribute(otlp_name(which), "stringValue", spelt);
        continue;
      }
      json_.begin_object().member("key", otlp_name(which)).key("value");
      json_.begin_object().member("boolValue", spelt == "true").end_object().end_object();
    }
    json_.end_array();
  }

  void add(const GcDurations::Histogram& histogram) {
    std::int64_t count = 0;
    for (const std::int64_t each : histogram.counts) count += each;
    json_.member("count", text(count)).member("sum", histogram.sum).key("bucketCounts").begin_array();
    for (const std::int64_t each : histogram.counts) json_.value(text(each));
    json_.end_array().key("explicitBounds").begin_array();
    for (const double each : kGcDurationBounds) json_.value(each);
    json_.end_array();
  }

  JsonWriter json_;
  std::string now_;
  std::string_view host_;
  std::string start_, since_;  // ns since the epoch; "": not known
};

}  // namespace

std::string otlp_request(std::span<const NamedJvm> jvms, std::uint64_t now, std::string_view host) {
  std::string out;
  Request request(out, now, host);
  request.json().begin_object().key("resourceMetrics").begin_array();
  for (const NamedJvm& each : jvms) request.add(each);
  request.json().end_array().end_object();
  return out;
}

}  // namespace jtrace::perfdata
