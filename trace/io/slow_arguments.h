// What most slow calls of a method have in common: values of arguments, or how their texts begin or end. Whether its
// quick calls have them too a trace of slow calls alone does not tell. Callees that took half of a slow call count too.
// Internal to trace/io. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {

struct CommonArguments {
  enum class Part : std::uint8_t { kWhole, kBeginning, kEnd };
  struct Value {
    std::size_t position = 0;  // 1: the first argument
    std::string text;          // as in SlowCall::arguments; a part of a text without quotation marks
    std::size_t calls = 0;
    Part part = Part::kWhole;
  };
  std::uint64_t method = 0;
  std::size_t calls = 0;  // slow ones, whose arguments are known
  std::vector<Value> values;
};

// Of methods with at least four such calls, those with a value that more than half of them have, or texts of which nine
// in ten begin or end alike; those with most calls first.
std::vector<CommonArguments> common_arguments(const std::vector<const SlowCall*>& calls);

// Lines for a terminal; "" if there are none.
std::string common_arguments_text(const Scope& scope, const std::vector<CommonArguments>& common);
// The member "commonArguments" of the JSON object that is open.
void write_common_arguments(JsonWriter& json, const Scope& scope, const std::vector<CommonArguments>& common);

}  // namespace jtrace::trace::io
