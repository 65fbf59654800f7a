// Names chosen by a pattern. Pure.
#pragma once

#include <string_view>

namespace jtrace::coreinspect {

// '*' and '?' as in a shell.
inline bool matches_pattern(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t i = 0; i <= text.size(); ++i)
      if (matches_pattern(pattern.substr(1), text.substr(i))) return true;
    return false;
  }
  if (text.empty() || (pattern.front() != '?' && pattern.front() != text.front())) return false;
  return matches_pattern(pattern.substr(1), text.substr(1));
}

// Without '*' and '?' any part of the name; "": every name.
inline bool is_chosen(std::string_view pattern, std::string_view name) {
  if (pattern.find_first_of("*?") == pattern.npos) return name.find(pattern) != name.npos;
  return matches_pattern(pattern, name);
}

}  // namespace jtrace::coreinspect
