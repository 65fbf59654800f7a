// The arguments of execve, kept alive until it is called.
#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

namespace jtrace::test {

inline std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// The environment of this process with NAME=VALUE words over it.
inline std::vector<std::string> environment_with(const std::vector<std::string>& extra) {
  std::vector<std::string> result = extra;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view word = *entry;
    const std::string_view name = word.substr(0, word.find('=') + 1);
    bool overridden = false;
    for (const std::string& other : extra)
      overridden = overridden || std::string_view(other).substr(0, name.size()) == name;
    if (!overridden) result.emplace_back(word);
  }
  return result;
}

}  // namespace jtrace::test
