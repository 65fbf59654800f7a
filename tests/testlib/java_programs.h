// Real Java programs for tests and benchmarks, from Debian packages that scripts/setup brings.
#pragma once

#include <string>
#include <vector>

namespace jtrace::test {

// Jars of VisualVM (package visualvm, installed or unpacked by scripts/setup), in any order; none if it is not
// installed.
std::vector<std::string> visualvm_jars();

// Eclipse's Java compiler (package libeclipse-jdt-core-java); "" if it is not installed.
std::string eclipse_compiler_jar();

}  // namespace jtrace::test
