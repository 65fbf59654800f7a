#include "dtrace/trace/class_filter.h"

#include <algorithm>
#include <string>

#include "base/filter_decision.h"
#include "base/name_pattern.h"

namespace jtrace::dtrace {

bool is_wanted(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method) {
  std::string dotted(class_name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  return is_included(rules, [&](const session::FilterRule& rule) {
    if (!matches_pattern(rule.class_pattern, dotted)) return false;
    return rule.method_pattern == "*" || (!method.empty() && matches_pattern(rule.method_pattern, method));
  });
}

}  // namespace jtrace::dtrace
