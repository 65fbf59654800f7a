// JavaOnly: what a trace (.xml) of a profile does not have: frames that are no Java methods, and with them the stacks
// that have no others. Pure; one thread.
#pragma once

#include <cstdint>
#include <string>

#include "coreinspect/unwind/java_walker.h"

namespace jtrace::sampling {

class JavaOnly {
 public:
  void add(const coreinspect::Walk& walk);
  // One line; "" if nothing was left out.
  std::string text() const;

 private:
  std::uint64_t stacks_ = 0, shortened_ = 0, left_out_ = 0;
};

}  // namespace jtrace::sampling
