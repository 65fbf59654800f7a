#include "dtrace/trace/class_filter.h"

#include <algorithm>
#include <string>

#include "base/name_pattern.h"

namespace jtrace::dtrace {

bool is_wanted(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method) {
  std::string dotted(class_name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  for (const session::FilterRule& rule : rules) {
    if (!matches_pattern(rule.class_pattern, dotted)) continue;
    if (rule.method_pattern != "*" && (method.empty() || !matches_pattern(rule.method_pattern, method))) continue;
    return rule.include;
  }
  return true;
}

}  // namespace jtrace::dtrace
