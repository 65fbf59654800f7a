// The decision of filter rules, for every place that applies them (docs/trace_format.md, filter): the agent, and a
// trace through probes. The first rule that applies decides; what no rule applies to is included.
//
// Rules: a range whose elements have `include`, `class_pattern` and `method_pattern` ("*": every method). Class names
// and patterns are of one form, with '/' or with '.'. Pure, any thread. Header only (agent).
#pragma once

#include <string_view>

namespace jtrace {

// A pattern has at most one '*', at its start or its end; every other character stands for itself.
constexpr bool matches_filter(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.back() == '*') return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.front() == '*') return name.ends_with(pattern.substr(1));
  return name == pattern;
}

// Whether a class is traced. A rule for single methods includes the class of the methods that it includes, and does
// not exclude that of those that it excludes.
template <class Rules>
bool includes_class(const Rules& rules, std::string_view name) {
  for (const auto& rule : rules)
    if (matches_filter(rule.class_pattern, name) && (rule.include || rule.method_pattern == "*")) return rule.include;
  return true;
}

// Whether a method of it is traced.
template <class Rules>
bool includes_method(const Rules& rules, std::string_view class_name, std::string_view method_name) {
  for (const auto& rule : rules)
    if (matches_filter(rule.class_pattern, class_name) && matches_filter(rule.method_pattern, method_name))
      return rule.include;
  return true;
}

}  // namespace jtrace
