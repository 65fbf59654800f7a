// Selection of names by a pattern. Pure, any thread.
#pragma once

#include <string_view>

namespace jtrace {

// '*' and '?' have the meaning that they have in a shell. '[' is an ordinary character, because names of array classes
// begin with it. Time: at most the product of both lengths.
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
    } else if (star != kNone) {  // the last star matches one more character
      at = star + 1;
      i = ++star_took_to;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == kNone;
}

// A pattern without '*' and '?' matches any part of the name; "" matches every name.
constexpr bool is_chosen(std::string_view pattern, std::string_view name) {
  if (pattern.find_first_of("*?") == std::string_view::npos) return name.find(pattern) != std::string_view::npos;
  return matches_pattern(pattern, name);
}

// Whether `wanted` is the end of a class's name after a '.' or '$': "Order" of shop.Order and of shop.Till$Order, but
// not of java.nio.ByteOrder.
constexpr bool is_short_name(std::string_view wanted, std::string_view name) {
  if (wanted.empty() || wanted.size() >= name.size() || !name.ends_with(wanted)) return false;
  const char before = name[name.size() - wanted.size() - 1];
  return before == '.' || before == '$';
}

}  // namespace jtrace
