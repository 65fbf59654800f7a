// LateClasses: the names of those classes whose first calls the trace does not have, though it began with the JVM: they
// had run before any probe could be in them. As texts for options of the trace, several names in each.
//
// Threads: one.
#pragma once

#include <stdio.h>

#include <cstdint>
#include <string_view>

#include "agent/byte_buffer.h"

namespace jtrace::agent {

class LateClasses {
 public:
  // `name`: internal form.
  template <class Say>
  void add(std::string_view name, Say&& say) {
    ++count_;
    if (count_ > kMostNamed) return;
    if (names_.size() + name.size() > kMostText) tell(say);
    if (names_.size() != 0) names_.put_bytes(",", 1);
    names_.put_bytes(name.data(), name.size());
  }
  // The rest. Then it is empty.
  template <class Say>
  void finish(Say&& say) {
    if (names_.size() != 0) tell(say);
    if (count_ > kMostNamed) {
      char text[32];
      const int length = snprintf(text, sizeof text, "%u more", count_ - kMostNamed);
      names_.put_bytes(text, static_cast<std::size_t>(length));
      tell(say);
    }
    count_ = 0;
  }

 private:
  static constexpr std::uint32_t kMostNamed = 2000;  // a JVM that has just started has a quarter of that
  static constexpr std::size_t kMostText = 1000;
  static constexpr std::string_view kWhy = ": had run before the trace began";

  template <class Say>
  void tell(Say&& say) {
    names_.put_bytes(kWhy.data(), kWhy.size());
    say(names_.view());
    names_.clear();
  }

  ByteBuffer names_;
  std::uint32_t count_ = 0;
};

}  // namespace jtrace::agent
