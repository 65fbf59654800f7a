// Rows of docs/support_matrix.md, written by the live tests: what was tried on which JDK and collector, and how it
// went.
//
// The rows of a run are lines of the file that JTRACE_SUPPORT_MATRIX names (nothing is written without it); scripts/dev
// matrix runs the tests so and scripts/support_matrix.py makes the table.
#pragma once

#include <string_view>

#include "tests/testlib/jdk_matrix.h"

namespace jtrace::test {

// `mode`: live, startup, core. `feature`: a few words. `gap`: empty where it works, else the reason why it does not.
void record_support(const Jdk& jdk, std::string_view collector, std::string_view mode, std::string_view feature,
                    std::string_view gap = {});

}  // namespace jtrace::test
