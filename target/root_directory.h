// Opens a path inside a directory as if it were the root: links, ".." and absolute paths cannot lead outside of it, so
// that a container cannot lead a tool of root to the host's files. Threads: any. No chroot, no setns: the state of this
// process does not change.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::target {

// openat2(2) with RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS; component by component with O_NOFOLLOW if the kernel lacks
// it (before 5.6) or a seccomp filter forbids it. O_CLOEXEC is added. `mode` is used only with O_CREAT. Add O_NONBLOCK
// if the file may be a FIFO. Errors name `path` as the target sees it.
Result<UniqueFd> open_in_root(int root, std::string_view path, int flags, unsigned mode = 0);

// Only the fall-back, for tests.
Result<UniqueFd> open_in_root_by_components(int root, std::string_view path, int flags, unsigned mode = 0);

}  // namespace jtrace::target
