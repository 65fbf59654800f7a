// VirtualNames: what virtual threads are called at the root of stacks. Those that cannot be told apart, and those
// beyond a number, share a name. Pure; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "sampling/mounted_thread.h"

namespace jtrace::sampling {

class VirtualNames {
 public:
  explicit VirtualNames(std::size_t most = 2000) : most_(most) {}  // each is a root of stacks
  // Nothing: it is not known which one it was.
  std::string root_of(const std::optional<MountedThread>& thread) {
    if (!thread) return "[virtual thread that is not known]";
    std::string name = thread->name.empty() ? "[virtual threads without a name]" : thread->name;
    if (known_.contains(name)) return name;
    if (known_.size() >= most_) return "[other virtual threads]";
    known_.insert(name);
    return name;
  }

 private:
  std::size_t most_;
  std::set<std::string> known_;
};

}  // namespace jtrace::sampling
