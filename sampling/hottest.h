// Hottest: the innermost frames that most samples had, as one line. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coreinspect/unwind/java_walker.h"

namespace jtrace::sampling {

class Hottest {
 public:
  void add(const coreinspect::Walk& walk);
  // "hottest: java.util.HashMap.get 71 %; of the program, with what it called of the JDK: com.example.Codec.encode
  // 80 %", the latter if the former are not all its own; "" if no sample has a frame.
  std::string text() const;

 private:
  using Frames = std::map<std::string, std::uint64_t>;
  std::vector<std::string> words_of(const Frames& frames) const;

  Frames frames_, own_;  // innermost ones; innermost ones of the program
  std::uint64_t samples_ = 0;
};

}  // namespace jtrace::sampling
