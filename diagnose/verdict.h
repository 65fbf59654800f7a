// Verdict: the result for a JVM: findings in the order of their importance, what was examined, and what was not.
// Values; threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/collect.h"
#include "diagnose/finding.h"
#include "diagnose/standing.h"

namespace jtrace::diagnose {

inline constexpr std::size_t kHeadline = 3;  // findings

struct Unasked {
  std::string about, why;
  bool expected = false;  // this target cannot tell it: the verdict is whole without it
};

struct Verdict {
  std::vector<Finding> findings;     // hints after the others
  std::vector<std::string> asked;    // the subjects of the rules that were applied
  std::vector<Unasked> unasked;      // those that were not
  std::optional<Standing> standing;  // nothing if a finding says where to look
  bool of_core = false;
  bool ended = false;  // the process, meanwhile
  bool is_found() const { return !findings.empty() && findings.front().confidence != Confidence::kHint; }
};
// Applies all rules to the facts.
Verdict judge(const Facts& facts);

// Whether something was not examined that this target could tell. What no core tells is named, but leaves the verdict
// whole: another look at the core would not tell more.
bool is_partial(const Verdict& verdict, const Collected& collected);

// In the form that docs/diagnose.md shows.
std::string text_of(const Verdict& verdict, const Collected& collected);
// Writes the elements of "data", and the members beside it, with the commas between them.
void write_findings(std::string& out, const Verdict& verdict);
void write_members(std::string& out, const Verdict& verdict, const Collected& collected);

}  // namespace jtrace::diagnose
