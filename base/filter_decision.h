// The decision of filter rules, for every place that applies them (docs/trace_format.md, filter): the first rule that
// applies decides, and what no rule applies to is included. Each place has its own form of rules and patterns.
#pragma once

namespace jtrace {

// `rules`: a range of rules with a member `include`; applies(rule).
template <class Rules, class Applies>
bool is_included(const Rules& rules, Applies applies) {
  for (const auto& rule : rules)
    if (applies(rule)) return rule.include;
  return true;
}

}  // namespace jtrace
