// The filters of a trace, as they choose among the hits of probes. Pure, any thread.
#pragma once

#include <string_view>
#include <vector>

#include "session/options/filter_rule.h"

namespace jtrace::dtrace {

// The first rule that matches decides; where none does, the hit is wanted. `class_name` in internal form. `method` "":
// a hit of the class alone, which rules with a method pattern do not concern.
bool is_wanted(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method);

}  // namespace jtrace::dtrace
