// joined(): words as an enumeration in a sentence.
#pragma once

#include <span>
#include <string>

namespace jtrace {

// "one, two, three"; "" for none.
inline std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace jtrace
