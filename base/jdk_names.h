// Which classes and methods are the JDK's own, by their names in the form of the source. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace jtrace {

// "java.util.HashMap", "jdk.internal.misc.Unsafe.park".
constexpr bool is_of_the_jdk(std::string_view name) {
  constexpr std::array<std::string_view, 5> kPackages = {"java.", "javax.", "jdk.", "sun.", "com.sun."};
  return std::any_of(kPackages.begin(), kPackages.end(), [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace jtrace
