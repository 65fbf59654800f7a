// A rule of --filter that has a class, for messages that say what to type: "com.example.*" for com.example.Main,
// "Shop*" for Shop$Stock. Pure.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::trace {

// `class_name`: as Java prints it. A word that is no class (a jar, a module) gives a rule to fill in.
inline std::string filter_example(std::string_view class_name) {
  const std::size_t dot = class_name.rfind('.');
  const bool is_file = class_name.ends_with(".jar") || class_name.ends_with(".java");
  if (class_name.empty() || is_file || class_name.find_first_of("/ #") != class_name.npos) return "com.example.*";
  if (dot != class_name.npos) return std::string(class_name.substr(0, dot + 1)) + "*";
  return std::string(class_name.substr(0, class_name.find('$'))) + "*";
}

}  // namespace jtrace::trace
