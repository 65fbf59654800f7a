// Rows of docs/support_matrix.md, written by the live tests: what was tried on which JDK and collector, with the
// result.
//
// The rows of a run are lines of the file that JTRACE_SUPPORT_MATRIX names (without it nothing is written). scripts/dev
// matrix runs the tests this way, and scripts/support_matrix.py makes the table.
#pragma once

#include <string_view>

#include "tests/testlib/jdk_matrix.h"

namespace jtrace::test {

// `mode`: live, startup, core. `feature`: a few words. `gap`: empty if it works, otherwise the reason why not.
void record_support(const Jdk& jdk, std::string_view collector, std::string_view mode, std::string_view feature,
                    std::string_view gap = {});

}  // namespace jtrace::test
