// The small Java programs of tests/apps, compiled once for all test processes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::test {

// The folder with the classes of tests/apps/NAME.java, compiled with --release 8 by the newest javac. Made once per
// version of the source, in the build folder; other processes may compile it at the same time. With the variables'
// names
// (-g) if the source says "Compiled with -g."
Result<std::string> compiled_app(std::string_view name);

// The same for a source text of the test's own (class NAME in NAME.java).
Result<std::string> compiled_source(std::string_view name, std::string_view source);

}  // namespace jtrace::test
