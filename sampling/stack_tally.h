// StackTally: how many stacks there are, and how many of them are not whole, by cause. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "coreinspect/unwind/java_walker.h"
#include "sampling/sample_record.h"

namespace jtrace::sampling {

class StackTally {
 public:
  // `sample`: whose copy was unwound; null if the stack was read in memory while the thread slept.
  void add(const coreinspect::Walk& walk, const SampleRecord* sample);
  // One of a wait of which only the length is known.
  void add_missing() { ++all_, ++missing_; }

  std::uint64_t all() const { return all_; }
  std::uint64_t missing() const { return missing_; }
  // Of those that are there but incomplete. A small number of causes.
  const std::map<std::string, std::uint64_t>& cut() const { return cut_; }

 private:
  std::uint64_t all_ = 0, missing_ = 0;
  std::map<std::string, std::uint64_t> cut_;
};

}  // namespace jtrace::sampling
