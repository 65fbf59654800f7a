// ProcessFigures: what the kernel says of a process as a whole, for the process_* metrics (proc(5)). Any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace jtrace::perfdata {

struct ProcessFigures {  // nothing where it may not be read, or has no end
  std::optional<double> cpu_seconds;
  std::optional<std::int64_t> resident_bytes, virtual_bytes;
  std::optional<std::int64_t> open_files, max_files;
};
ProcessFigures process_figures(pid_t pid);  // of pid 0: nothing

}  // namespace jtrace::perfdata
