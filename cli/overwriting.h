// An output that is one of the command's own inputs would replace it: refused before anything is read or written.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace jtrace::cli {

// Fails with kUsage if `output` is the same regular file (device and inode, so by links too) as one of `inputs`, of
// which "-" is standard input. An output that does not exist yet, "" and "-" are none.
Result<> refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace jtrace::cli
