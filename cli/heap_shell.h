// jtrace heap TARGET shell: one view after the other over one reading of the heap.
//
// Lines come from standard input: a view with its argument and options, as after `jtrace heap TARGET`, quoted as in
// words.h. A line that cannot be answered is reported, and the next one is read.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace jtrace::cli {

// Asks for the words of each line until the end of the input, `quit` or `exit`. `help`: what to print for that word.
// Returns the status of the first line that failed, else that of the first that was partial, else kOk.
ExitStatus run_shell(const std::function<ExitStatus(const std::vector<std::string>&)>& ask, const std::string& help);

}  // namespace jtrace::cli
