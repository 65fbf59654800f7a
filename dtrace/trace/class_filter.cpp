#include "dtrace/trace/class_filter.h"

#include <algorithm>
#include <string>

#include "base/filter_decision.h"

namespace jtrace::dtrace {

bool is_wanted(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method) {
  std::string dotted(class_name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  return method.empty() ? includes_class(rules, dotted) : includes_method(rules, dotted, method);
}

}  // namespace jtrace::dtrace
