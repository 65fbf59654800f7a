// Runs a program as a child, its standard output in a file. One thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace jtrace {

// words[0] is the path of the program; its standard input is empty. In a process group of its own: of Ctrl-C it learns
// once, because SIGINT, SIGTERM and SIGHUP are passed to it while this waits for its end; if this process dies, it gets
// SIGTERM. Returns its exit status, or 128 + the signal that ended it. kSystem: it could not be started.
Result<int> run_child_program(const std::vector<std::string>& words, int output);

}  // namespace jtrace
