// The number of files that this process may have open.
#pragma once

#include <sys/resource.h>

namespace jtrace {

// Raises the soft limit to the hard limit, if it may: perf events need a descriptor for each site or thread and
// processor, and a thousand JVMs need several each.
inline void raise_descriptor_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace jtrace
