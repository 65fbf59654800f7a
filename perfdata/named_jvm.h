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
  // Whether the JVM's own structures are asked: what they add is then part of each sample, or the sample is left out,
  // so that the series of a JVM stay the same.
  bool asks_inner = false;
  const GcDurations* durations = nullptr;  // null: no pauses were watched
  std::string runtime = {};                // version of the JDK; "" if it is not known
};

}  // namespace jtrace::perfdata
