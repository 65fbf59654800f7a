#include "cli/hsperf_check_text.h"

#include <cstdio>

#include "base/strings.h"
#include "trace/io/statistics_rows.h"

namespace jtrace::cli {

Error lack_of(const CheckAnswer& answer) {
  return answer.lack.value_or(Error()).with_context(printable(std::string(answer.condition.shown())));
}

std::string text_of(const CheckAnswer& answer) {
  std::string text = answer.time == 0 ? "" : trace::io::time_of_day(answer.time) + " ";
  text += answer.holds ? "holds: " : "does not hold: ";
  if (!answer.condition.name.empty()) text += printable(answer.condition.name) + ": ";
  text += answer.explained;
  if (!answer.age) return text + "\n";
  char age[64];
  std::snprintf(age, sizeof age, ", %.1f s after the JVM began\n", *answer.age);
  return text + age;
}

void write_answer(JsonWriter& json, const CheckAnswer& answer) {
  json.begin_object();
  if (!answer.condition.name.empty()) json.member("name", answer.condition.name);
  json.member("condition", answer.condition.text);
  if (answer.lack) json.key("holds").null().member("reason", answer.lack->message());
  else json.member("holds", answer.holds);
  if (answer.time != 0) json.member("time", static_cast<double>(answer.time) / 1e9);
  if (answer.age) json.member("jvmAge", *answer.age);
  json.key("values").begin_array();
  for (const perfdata::Watch::Value& each : answer.values) {
    json.begin_object().member("name", each.name);
    if (each.value) json.member("value", *each.value);
    if (!each.unit.empty()) json.member("unit", each.unit);
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace jtrace::cli
