// Opening a path inside a directory as if it were the root: no link, no ".." and no absolute path leads outside of it.
// A container must not lead a root tool to the host's files. Threads: any. No chroot, no setns: the process's own state
// is not touched.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::target {

// openat2(2) with RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS; component by component with O_NOFOLLOW where the kernel
// lacks it (before 5.6) or a seccomp filter forbids it. O_CLOEXEC is added. `mode` counts with O_CREAT only. Opening
// what may be a FIFO? Add O_NONBLOCK. Errors name `path` as the target sees it.
Result<UniqueFd> open_in_root(int root, std::string_view path, int flags, unsigned mode = 0);

// The fall-back alone, for tests.
Result<UniqueFd> open_in_root_by_components(int root, std::string_view path, int flags, unsigned mode = 0);

}  // namespace jtrace::target
