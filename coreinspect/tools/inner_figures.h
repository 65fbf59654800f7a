// InnerFiguresReader: what the beans of live JVMs say and their counters do not (perfdata/inner_figures.h), out of the
// JVMs' own structures. Reads memory and stops nothing: what moves meanwhile is left out.
//
// Ownership: keeps each JVM open until it is in a call no more. Threads: one at a time.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "coreinspect/model/inspection.h"
#include "perfdata/inner_figures.h"

namespace jtrace::coreinspect {

class InnerFiguresReader {
 public:
  // One for each of `jvms`; empty of those that cannot be read.
  std::vector<perfdata::InnerFigures> read(const std::vector<perfdata::NumberedJvm>& jvms);

 private:
  // Null if it cannot be opened: tried once.
  const Inspection* open(const perfdata::NumberedJvm& jvm);

  std::map<std::uint64_t, std::unique_ptr<Inspection>> open_;  // by their number
};

// Of one JVM, now.
perfdata::InnerFigures read_inner_figures(const Inspection& inspection);

}  // namespace jtrace::coreinspect
