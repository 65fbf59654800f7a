// NamedJvm: all that is known of one JVM for metrics by others' names. A value that borrows.
#pragma once

#include <string>
#include <vector>

#include "perfdata/gc_durations.h"
#include "perfdata/inner_figures.h"
#include "perfdata/mx_beans.h"
#include "perfdata/process_figures.h"

namespace jtrace::perfdata {

struct NamedJvm {
  pid_t pid = 0;
  std::string main;
  MxBeans beans;
  ProcessFigures process;
  InnerFigures inner;
  const GcDurations* durations = nullptr;  // null: no pauses were watched
  std::string runtime = {};                // version of the JDK; "" if it is not known
};

}  // namespace jtrace::perfdata
