// ProfileCounts: samples merged by thread and stack. Memory grows with distinct stacks, not with samples. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"

namespace jtrace::sampling {

class ProfileCounts {
 public:
  struct Count {
    std::uint64_t samples = 0, weight = 0;  // ns
  };
  enum class Kind : std::uint8_t { kThread, kJava, kNative, kKernel };  // of a name; generated code is kJava
  // The thread's name, then frames from the outermost on, as numbers of names().
  using Stack = std::vector<std::uint32_t>;

  // Counts the report's stack. An incomplete one is placed below coreinspect::kCutStack.
  void add(const coreinspect::ThreadReport& report, std::uint64_t weight);

  const std::vector<std::string>& names() const { return names_; }
  // Of each of names(), as it was first seen.
  const std::vector<Kind>& kinds() const { return kinds_; }
  const std::map<Stack, Count>& stacks() const { return stacks_; }
  Count total() const { return total_; }

 private:
  std::uint32_t number_of(std::string_view name, Kind kind);

  std::vector<std::string> names_;
  std::vector<Kind> kinds_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<Stack, Count> stacks_;
  Stack stack_;
  Count total_;
};

}  // namespace jtrace::sampling
