// Filter rules: CLASS-PATTERN [METHOD-PATTERN] [include|exclude]. The first rule that matches a class decides; a class
// without a match is included. A rule without a mode is an include, and rules of the command line that only include
// exclude all other classes. Patterns are Java's (java.util.*; slashes are accepted too) with at most one '*', at the
// start or the end, and no '?'; base/filter_decision.h decides by them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/event.h"
#include "trace/record/frames.h"

namespace jtrace::session {

struct FilterRule {
  std::string class_pattern;   // with dots, as in Java
  std::string method_pattern;  // "*": all
  bool include = true;

  friend bool operator==(const FilterRule&, const FilterRule&) = default;
};

// Parses one rule; a class pattern alone includes. INCLUDE and EXCLUDE are accepted too. kUsage names the fault.
Result<FilterRule> parse_filter_rule(std::string_view text);
// A file with one rule a line; empty lines and lines that start with '#' are skipped. Errors name file and line.
Result<std::vector<FilterRule>> read_filter_file(const std::string& path);

// Completes rules of the command line: if all of them include, adds one that excludes all others.
void exclude_the_rest(std::vector<FilterRule>& rules);

// kUsage if they do not fit into one frame to the agent.
Result<> check_size(const std::vector<FilterRule>& rules);

// The rule as text for parse_filter_rule().
std::string to_text(const FilterRule& rule);
// The rules in internal form, for Start and Filters.
class InternalRules {
 public:
  explicit InternalRules(const std::vector<FilterRule>& rules);
  // Views into this object.
  trace::record::frame_types::Rules fields() const;

 private:
  std::vector<FilterRule> rules_;
};
// The payload of Filters.
std::string encode_filter_rules(const std::vector<FilterRule>& rules);
// "none", "prefix" (the star is in front) or "suffix", as in trace.dtd's genericPattern.
std::string_view generic_word(std::string_view pattern);
// The rule as an element; borrows the rule's texts. Method attributes, which are an extension, only with `extensions`.
trace::Filter to_element(const FilterRule& rule, bool extensions);

}  // namespace jtrace::session
