// Names of threads in few words: those that differ in the number at their end alone are one group. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace jtrace::trace::io {

// "mail-1 .. mail-3, main": the greatest groups first, `groups` of them, then "and 4 more".
inline std::string thread_names_text(const std::vector<std::string>& names, std::size_t groups) {
  struct Group {
    std::string first, last;
    std::size_t count = 0;
  };
  // mail-9 is before mail-10.
  const auto is_before = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  std::map<std::string, Group> by_stem;
  for (const std::string& name : names) {
    const std::size_t end = name.find_last_not_of("0123456789");
    Group& group = by_stem[end == std::string::npos || end + 1 == name.size() ? name : name.substr(0, end + 1) + "#"];
    if (group.count == 0 || is_before(name, group.first)) group.first = name;
    if (group.count == 0 || is_before(group.last, name)) group.last = name;
    ++group.count;
  }
  std::vector<Group> all;
  for (const auto& [stem, group] : by_stem) all.push_back(group);
  std::stable_sort(all.begin(), all.end(), [](const Group& a, const Group& b) { return a.count > b.count; });
  std::string text;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= groups) {
      rest += all[i].count;
      continue;
    }
    text += (i == 0 ? "" : ", ") + all[i].first;
    if (all[i].first != all[i].last) text += (all[i].count == 2 ? ", " : " .. ") + all[i].last;
  }
  return rest == 0 ? text : text + " and " + counted(rest, "more", "more");
}

}  // namespace jtrace::trace::io
