// What one rule finds in made-up facts.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/rules.h"

namespace jtrace::diagnose {

inline constexpr std::uint64_t kSecond = 1'000'000'000;  // ns
inline constexpr std::uint64_t kMiB = 1u << 20;

// `found`: by rules before it, which it may heed; they are not among the result.
template <class Rule>
std::vector<Finding> found_by(Rule rule, const Facts& facts, std::vector<Finding> found = {}) {
  const std::size_t before = found.size();
  rule(facts, found);
  return {found.begin() + static_cast<std::ptrdiff_t>(before), found.end()};
}

}  // namespace jtrace::diagnose
