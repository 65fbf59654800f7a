// leaks --duration: a live JVM is looked at several times, and what grew is the answer.
#pragma once

#include "cli/inspect_common.h"

namespace jtrace::cli {

// Reads the heap three times within options.heap.duration, each time as the other options say, then prints the view.
// kUsage: the target is a file.
ExitStatus run_leak_looks(InspectArguments arguments, const coreinspect::View& view);

}  // namespace jtrace::cli
