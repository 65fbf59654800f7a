// Hottest: the innermost frames that most samples had, as one line. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "coreinspect/unwind/java_walker.h"

namespace jtrace::sampling {

class Hottest {
 public:
  void add(const coreinspect::Walk& walk);
  // "hottest: com.example.Codec.encode 71 %, java.util.HashMap.get 9 %"; "" if no sample has a frame.
  std::string text() const;

 private:
  std::map<std::string, std::uint64_t> frames_;
  std::uint64_t samples_ = 0;
};

}  // namespace jtrace::sampling
