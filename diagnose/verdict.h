// Verdict: what is said of a JVM: findings in the order in which they matter, what was looked at, and what was not.
// Values; threads: any.
#pragma once

#include <string>
#include <vector>

#include "diagnose/collect.h"
#include "diagnose/finding.h"

namespace jtrace::diagnose {

inline constexpr std::size_t kHeadline = 3;  // findings

struct Unasked {
  std::string about, why;
};

struct Verdict {
  std::vector<Finding> findings;   // hints after the others
  std::vector<std::string> asked;  // the subjects of the rules that were asked
  std::vector<Unasked> unasked;    // those that were not
  bool is_found() const { return !findings.empty() && findings.front().confidence != Confidence::kHint; }
};
// All rules, of the facts.
Verdict judge(const Facts& facts);

// Whether something that this target has was not looked at.
bool is_partial(const Verdict& verdict, const Collected& collected);

// As docs/diagnose.md has it.
std::string text_of(const Verdict& verdict, const Collected& collected);
// The elements of "data", and the members beside it, with the commas between them.
void write_findings(std::string& out, const Verdict& verdict);
void write_members(std::string& out, const Verdict& verdict, const Collected& collected);

}  // namespace jtrace::diagnose
