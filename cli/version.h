// The output of --version. Constant; any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::cli {

// Several lines, the last without a newline: "PROGRAM VERSION", then what it is built from and with. The commit is the
// one of the source tree (cmake/Version.cmake); the libraries are those that the build found.
std::string version_text(std::string_view program);

}  // namespace jtrace::cli
