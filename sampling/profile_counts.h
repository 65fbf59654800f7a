// ProfileCounts: samples merged by process, thread, what they wait for, and stack. Memory grows with distinct stacks,
// not with samples. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coreinspect/tools/thread_snapshot.h"
#include "sampling/wait_kind.h"
#include "sampling/wait_parties.h"

namespace jtrace::sampling {

class ProfileCounts {
 public:
  struct Count {
    std::uint64_t samples = 0, weight = 0;  // ns
    std::uint64_t longest = 0;              // the greatest weight of one sample, or length of one wait
  };
  // What the stacks have before their frames, and what their weights are.
  struct Shape {
    bool processes = false;  // the process, before the thread
    bool waits = false;      // waits, or waits and CPU time: what a thread waits for comes after the thread
    bool cpu = true;
  };
  enum class Kind : std::uint8_t { kThread, kJava, kNative, kKernel };  // of a name; generated code is kJava
  // The process's name if there are several, the thread's, then frames from the outermost on, as numbers of names().
  using Stack = std::vector<std::uint32_t>;

  ProfileCounts() = default;
  explicit ProfileCounts(Shape shape) : shape_(shape) {}
  const Shape& shape() const { return shape_; }
  // The place of the thread in a stack. Its first frame, or what it waits for, comes next.
  std::size_t thread_at() const { return shape_.processes ? 1 : 0; }

  // Counts the report's stack. An incomplete one is placed below coreinspect::kCutStack. `earlier`: as of TakenSample.
  void add(const coreinspect::ThreadReport& report, std::uint64_t weight, WaitKind wait = WaitKind::kNone,
           std::string_view process = {}, const WaitParties& parties = {}, const EarlierPart& earlier = {});

  const std::vector<std::string>& names() const { return names_; }
  // Of each of names(), as it was first seen.
  const std::vector<Kind>& kinds() const { return kinds_; }
  const std::map<Stack, Count>& stacks() const { return stacks_; }
  // Of a stack's waits; null if nothing is known of it.
  const WaitPartyCounts* parties_of(const Stack& stack) const {
    const auto found = parties_.find(stack);
    return found == parties_.end() ? nullptr : &found->second;
  }
  Count total() const { return total_; }

 private:
  std::uint32_t number_of(std::string_view name, Kind kind);

  Shape shape_;
  std::vector<std::string> names_;
  std::vector<Kind> kinds_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<Stack, Count> stacks_;
  std::map<Stack, WaitPartyCounts> parties_;
  Stack stack_;
  Count total_;
};

}  // namespace jtrace::sampling
