// Samples by the innermost method of the program: what of the JDK, the VM and the kernel ran below it counts as its
// own, because the program can change nothing else. With its callers: a method that is used everywhere is hot because
// of one of them. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/profile_counts.h"

namespace jtrace::sampling {

struct OwnMethod {
  struct Caller {
    std::uint32_t name = 0;  // of counts.names(): the next method of the program, whatever of the JDK is between
    std::uint64_t samples = 0;
  };
  std::uint32_t name = 0;  // of counts.names()
  std::uint64_t samples = 0;
  std::vector<Caller> callers;  // that with most samples first; none of samples where it is the outermost
};

// That with most samples first. Stacks without a method of the program are in none.
std::vector<OwnMethod> own_methods(const ProfileCounts& counts);

}  // namespace jtrace::sampling
