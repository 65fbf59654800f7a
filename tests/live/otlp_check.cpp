// The rules of opentelemetry-proto for metrics in JSON, as far as hsperf uses them.
#include <algorithm>
#include <set>

#include "tests/live/collector_server.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

class Check {
 public:
  std::vector<std::string> run(const json& request) {
    keys(request, "request", {"resourceMetrics"}, {});
    for (const json& each : list(request, "resourceMetrics")) {
      keys(each, "resourceMetrics", {"resource", "scopeMetrics"}, {"schemaUrl"});
      keys(each.value("resource", json()), "resource", {"attributes"}, {"droppedAttributesCount"});
      attributes(each.value("resource", json()));
      for (const json& scope : list(each, "scopeMetrics")) {
        keys(scope, "scopeMetrics", {"scope", "metrics"}, {"schemaUrl"});
        std::set<std::string> names;
        for (const json& metric : list(scope, "metrics")) {
          check_metric(metric);
          if (!names.insert(metric.value("name", "")).second) fault(metric.value("name", "") + " is there twice");
        }
      }
    }
    return std::move(faults_);
  }

 private:
  void fault(const std::string& text) { faults_.push_back(text); }

  static json list(const json& object, const char* name) {
    return object.is_object() && object.contains(name) && object[name].is_array() ? object[name] : json::array();
  }

  void keys(const json& object, const std::string& what, const std::set<std::string>& needed,
            const std::set<std::string>& more) {
    if (!object.is_object()) return fault(what + " is no object");
    for (const auto& [key, value] : object.items())
      if (!needed.contains(key) && !more.contains(key)) fault(what + " has " + key);
    for (const std::string& key : needed)
      if (!object.contains(key)) fault(what + " lacks " + key);
  }

  // int64, fixed64: a text of digits.
  void number64(const json& object, const char* name) {
    const std::string text = object.contains(name) && object[name].is_string() ? object[name] : json("?");
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos || (text.size() > 1 && text[0] == '0'))
      fault(std::string(name) + " is " + text);
  }

  void attributes(const json& object) {
    std::set<std::string> seen;
    for (const json& each : list(object, "attributes")) {
      keys(each, "attribute", {"key", "value"}, {});
      const std::string key = each.value("key", "");
      if (key.empty() || !seen.insert(key).second) fault("the attribute " + key + " is given twice");
      const json value = each.value("value", json::object());
      if (value.size() != 1) fault("a value of " + key + " is not one");
      if (value.contains("intValue")) number64(value, "intValue");
      else if (value.contains("boolValue") ? !value["boolValue"].is_boolean()
                                           : !value.contains("stringValue") || !value["stringValue"].is_string())
        fault(key + " has no value");
    }
  }

  void check_metric(const json& metric) {
    const std::string name = metric.value("name", "");
    if (name.empty()) fault("a metric without a name");
    const bool histogram = metric.contains("histogram");
    keys(metric, name, {"name", "description", "unit", histogram ? "histogram" : "sum"}, {});
    const json data = metric.value(histogram ? "histogram" : "sum", json::object());
    keys(data, name,
         histogram ? std::set<std::string>{"dataPoints", "aggregationTemporality"}
                   : std::set<std::string>{"dataPoints", "aggregationTemporality", "isMonotonic"},
         {});
    if (data.value("aggregationTemporality", json()) != 2) fault(name + " is not cumulative");
    if (list(data, "dataPoints").empty()) fault(name + " has no points");
    std::set<std::string> series;
    for (const json& point : list(data, "dataPoints")) {
      if (!series.insert(point.value("attributes", json()).dump()).second) fault(name + " has a series twice");
      check_point(name, point, histogram);
    }
  }

  void check_point(const std::string& name, const json& point, bool histogram) {
    attributes(point);
    number64(point, "timeUnixNano");
    number64(point, "startTimeUnixNano");
    std::set<std::string> needed = {"timeUnixNano", "startTimeUnixNano"};
    if (histogram) needed.insert({"count", "sum", "bucketCounts", "explicitBounds"});
    else needed.insert(point.contains("asInt") ? "asInt" : "asDouble");
    keys(point, name, needed, {"attributes"});
    if (point.contains("asInt")) number64(point, "asInt");
    if (!histogram) return;
    number64(point, "count");
    std::uint64_t sum = 0;
    for (const json& each : list(point, "bucketCounts")) sum += std::stoull(each.get<std::string>());
    if (std::to_string(sum) != point.value("count", "")) fault(name + ": the buckets are not the count");
    if (list(point, "bucketCounts").size() != list(point, "explicitBounds").size() + 1) fault(name + ": buckets");
  }

  std::vector<std::string> faults_;
};

std::string attribute_text(const json& object, const std::string& key) {
  for (const json& each : object.value("attributes", json::array()))
    if (each["key"] == key)
      return each["value"].begin()->is_string() ? each["value"].begin()->get<std::string>()
                                                : each["value"].begin()->dump();
  return {};
}

}  // namespace

std::vector<std::string> otlp_faults(const json& request) { return Check().run(request); }

std::vector<std::pair<std::string, double>> otlp_values(const json& request, const std::string& pid,
                                                        const std::string& metric) {
  std::vector<std::pair<std::string, double>> values;
  for (const json& resource : request["resourceMetrics"]) {
    if (attribute_text(resource["resource"], "process.pid") != pid) continue;
    for (const json& each : resource["scopeMetrics"][0]["metrics"]) {
      if (each["name"] != metric) continue;
      for (const json& point : each[each.contains("sum") ? "sum" : "histogram"]["dataPoints"]) {
        std::string labels;
        for (const json& attribute : point.value("attributes", json::array()))
          labels += attribute["key"].get<std::string>() + "=" +
                    attribute_text(point, attribute["key"].get<std::string>()) + ",";
        const char* const key = point.contains("asInt") ? "asInt" : "count";
        values.emplace_back(labels, point.contains("asDouble") ? point["asDouble"].get<double>()
                                                               : std::stod(point[key].get<std::string>()));
      }
    }
  }
  return values;
}

}  // namespace jtrace::test
