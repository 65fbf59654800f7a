// Filter rules: CLASS-PATTERN [METHOD-PATTERN] include|exclude. The first rule that matches a class decides; no match
// includes. A pattern alone is an include, and rules of the command line that only include exclude the rest. Patterns
// are Java's (java.util.*; slashes are taken too) with one '*' at the start or the end at most.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/event.h"

namespace jtrace::session {

struct FilterRule {
  std::string class_pattern;   // as Java has it, with dots
  std::string method_pattern;  // "*": all
  bool include = true;

  friend bool operator==(const FilterRule&, const FilterRule&) = default;
};

// One rule's text; a class pattern alone includes. INCLUDE and EXCLUDE are taken too. kUsage names what is wrong.
Result<FilterRule> parse_filter_rule(std::string_view text);
// A file with one rule a line; empty lines and lines that start with '#' are skipped. Errors name file and line.
Result<std::vector<FilterRule>> read_filter_file(const std::string& path);

// Rules as they are typed: where all of them include, a last one excludes what they do not name.
void exclude_the_rest(std::vector<FilterRule>& rules);

// kUsage where they do not fit in one frame to the agent.
Result<> check_size(const std::vector<FilterRule>& rules);

// The rule as text that parse_filter_rule() takes.
std::string to_text(const FilterRule& rule);
// The rules as they lie in Start and Filters (trace/record/control.h): internal form.
std::string encode_filter_rules(const std::vector<FilterRule>& rules);
// "none", "prefix" (the star is in front) or "suffix", as trace.dtd's genericPattern has it.
std::string_view generic_word(std::string_view pattern);
// The rule as an element; borrows the rule's texts. Method attributes, which are an extension, where `extensions` says.
trace::Filter to_element(const FilterRule& rule, bool extensions);

}  // namespace jtrace::session
