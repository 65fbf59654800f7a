// InnerFiguresReader: what the beans of live JVMs say and their counters do not (perfdata/inner_figures.h), out of the
// JVMs' own structures. Reads memory and stops nothing: what moves meanwhile is left out.
//
// A JVM that cannot be read now (it starts, or a collection moves its objects) is opened again at a later call.
// Ownership: keeps each JVM open until it is in a call no more. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "perfdata/inner_figures.h"

namespace jtrace::coreinspect {

class InnerFiguresReader {
 public:
  // One for each of `jvms`; of those that cannot be read only the reason.
  std::vector<perfdata::InnerFigures> read(const std::vector<perfdata::NumberedJvm>& jvms);

 private:
  // The last try to open one: the inspection or why there is none.
  struct Opened {
    Result<std::unique_ptr<Inspection>> inspection = std::unique_ptr<Inspection>();
    std::uint64_t next_try = 0;  // CLOCK_MONOTONIC, ns
  };
  Opened& open(const perfdata::NumberedJvm& jvm);

  std::map<std::uint64_t, Opened> open_;  // by their number
};

// Of one JVM, now.
perfdata::InnerFigures read_inner_figures(const Inspection& inspection);

}  // namespace jtrace::coreinspect
