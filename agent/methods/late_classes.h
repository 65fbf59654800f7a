// LateClasses: the names of classes whose first calls are missing in a trace that began with the JVM, because they had
// run before they could get callouts. The names go into options of the trace, several in each.
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
  template <class Write>
  void add(std::string_view name, Write&& write) {
    ++count_;
    if (count_ > kMostNamed) return;
    if (names_.size() + name.size() > kMostText) write_batch(write);
    if (names_.size() != 0) names_.put_bytes(",", 1);
    names_.put_bytes(name.data(), name.size());
  }
  // Writes the rest; then it is empty.
  template <class Write>
  void finish(Write&& write) {
    if (names_.size() != 0) write_batch(write);
    if (count_ > kMostNamed) {
      char text[32];
      const int length = snprintf(text, sizeof text, "%u more", count_ - kMostNamed);
      names_.put_bytes(text, static_cast<std::size_t>(length));
      write_batch(write);
    }
    count_ = 0;
  }

 private:
  static constexpr std::uint32_t kMostNamed = 2000;  // a JVM that has just started has a quarter of this
  static constexpr std::size_t kMostText = 1000;
  static constexpr std::string_view kWhy = ": had run before the trace began";

  template <class Write>
  void write_batch(Write&& write) {
    names_.put_bytes(kWhy.data(), kWhy.size());
    write(names_.view());
    names_.clear();
  }

  ByteBuffer names_;
  std::uint32_t count_ = 0;
};

}  // namespace jtrace::agent
