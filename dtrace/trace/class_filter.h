// Applies the filters of a trace to hits of probes. Pure, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "session/options/filter_rule.h"

namespace jtrace::dtrace {

// As base/filter_decision.h decides. `class_name` in internal form; `method` "": a hit of the class itself.
bool is_wanted(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method);

}  // namespace jtrace::dtrace
