// Real Java programs for tests and benchmarks, from Debian packages that scripts/setup brings.
#pragma once

#include <string>
#include <vector>

namespace jtrace::test {

// Jars of VisualVM (package visualvm, installed or unpacked by scripts/setup), in no order; none where it is not there.
std::vector<std::string> visualvm_jars();

// Eclipse's Java compiler (package libeclipse-jdt-core-java); "" where it is not there.
std::string eclipse_compiler_jar();

}  // namespace jtrace::test
