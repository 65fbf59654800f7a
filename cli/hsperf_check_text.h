// The answers of `hsperf check`, as text and JSON. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "perfdata/watch.h"

namespace jtrace::cli {

struct CheckAnswer {
  perfdata::NamedCondition condition;
  bool holds = false;
  std::optional<Error> lack;  // why it neither holds nor not: Watch::lack()
  std::uint64_t time = 0;     // of the look that decided it, ns since the epoch; 0: of a file, whose time is not known
  std::optional<double> age;  // of the JVM then, seconds
  std::string explained;      // Watch::explain()
  std::vector<perfdata::Watch::Value> values;
};

// Its lack, with the condition: one line.
Error lack_of(const CheckAnswer& answer);
// "23:21:56.041 holds: full heap: old.share=0.91 share, 201.1 s after the JVM began\n"; the time is UTC.
std::string text_of(const CheckAnswer& answer);
void write_answer(JsonWriter& json, const CheckAnswer& answer);

}  // namespace jtrace::cli
