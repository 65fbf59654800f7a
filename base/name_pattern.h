// Names chosen by a pattern. Pure, any thread.
#pragma once

#include <string_view>

namespace jtrace {

// '*' and '?' as in a shell, and nothing else of it: names of array classes begin with '['. Time: the product of both
// lengths at the most.
constexpr bool matches_pattern(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = 0, star = kNone, star_took_to = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      star_took_to = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != kNone) {  // the last star takes one more
      at = star + 1;
      i = ++star_took_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == kNone;
}

// Without '*' and '?' any part of the name; "": every name.
constexpr bool is_chosen(std::string_view pattern, std::string_view name) {
  if (pattern.find_first_of("*?") == std::string_view::npos) return name.find(pattern) != std::string_view::npos;
  return matches_pattern(pattern, name);
}

}  // namespace jtrace
