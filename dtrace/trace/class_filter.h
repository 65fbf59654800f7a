// Applies the filters of a trace to hits of probes. Pure, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "session/options/filter_rule.h"

namespace jtrace::dtrace {

// The first rule that matches decides; a hit without a match is wanted. `class_name` in internal form. `method` "": a
// hit of the class itself, to which rules with a method pattern do not apply.
bool is_wanted(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method);

}  // namespace jtrace::dtrace
