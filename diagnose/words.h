// Words of findings: numbers and names for sentences. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/jdk_names.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "diagnose/facts.h"
#include "diagnose/outside_waits.h"

namespace jtrace::diagnose {

inline std::string quoted(const std::string& name) { return "\"" + printable(name) + "\""; }
inline std::string quoted(const ThreadFact& thread) { return quoted(thread.name) + " #" + std::to_string(thread.key); }

inline std::string seconds(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", value);
  return text;
}
inline std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", share * 100);
  return text;
}
inline double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
// "com.example.Cart.add(Cart.java:12)"
inline std::string place(const FrameFact& frame) {
  return printable(frame.method) + "(" + printable(frame.source) + ")";
}

// '"a", "b", "c" and 57 more'
inline std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + quoted(names[i]);
  return text + (names.size() > kShown ? " and " + std::to_string(names.size() - kShown) + " more" : "");
}

// The time between two looks: "2.1 s".
inline std::string time_between(const ThreadsLook& before, const ThreadsLook& now) {
  return seconds(static_cast<double>(now.ns - before.ns) / 1e9);
}

// The innermost frame that is not the JDK's own.
inline std::vector<FrameFact>::const_iterator innermost_of_program(const std::vector<FrameFact>& frames) {
  return std::find_if(frames.begin(), frames.end(), [](const FrameFact& each) { return !is_of_the_jdk(each.method); });
}

// Its place, which says more than the call that waits; "" without frames.
inline std::string own_place(const std::vector<FrameFact>& frames) {
  if (const auto own = innermost_of_program(frames); own != frames.end()) return place(*own);
  return frames.empty() ? "" : place(frames.front());
}

// '"worker" #12 is waiting to lock <0x...>, at App.cross(App.java:66)'
inline std::string doing(const ThreadFact& thread) {
  const std::string outside = outside_wait(thread);
  std::string text = quoted(thread) + (thread.wait       ? " is " + thread.wait->text
                                       : outside.empty() ? " is " + thread.state
                                                         : " " + outside);
  if (!thread.frames.empty()) text += ", at " + own_place(thread.frames);
  return text;
}

}  // namespace jtrace::diagnose
