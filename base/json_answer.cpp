#include "base/json_answer.h"

namespace jtrace {

JsonWriter& begin_answer(JsonWriter& json, std::string_view view) {
  return json.begin_object().member("view", view).key("target");
}

JsonWriter& write_missing(JsonWriter& json, bool complete, const std::vector<std::string>& missing,
                          std::size_t masked) {
  json.member("complete", complete).key("missing").begin_array();
  for (const std::string& line : missing) json.value(line);
  json.end_array();
  if (masked != 0) json.member("masked", masked);
  return json;
}

JsonWriter& write_missing(JsonWriter& json, const std::vector<std::string>& missing, std::size_t masked) {
  return write_missing(json, missing.empty(), missing, masked);
}

}  // namespace jtrace
