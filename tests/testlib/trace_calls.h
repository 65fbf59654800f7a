// Calls in traces: by name, and the rules for methodEntry and methodExit.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testlib/trace_document.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {

// Number of occurrences of `word` in `text`.
std::size_t occurrences(const std::string& text, std::string_view word);

// Waits until the trace has reported `times` times that the classes are rewritten.
::testing::AssertionResult rewritten(TraceRun& run, std::size_t times = 1);

// "Class.method" by methodId.
std::map<std::string, std::string> names_of_methods(const TraceDocument& trace);

// Events of an element by "Class.method".
std::map<std::string, int> by_method(const TraceDocument& trace, std::string_view element);

// One line for each call of `method` that the same thread makes within a call of one of `outer` ("Class.name").
std::vector<std::string> calls_within(const TraceDocument& trace, std::string_view method,
                                      const std::set<std::string>& outer);

// Every methodExit and methodReturn belongs to the innermost open call of its thread; depth and ticket agree. `open`:
// calls that did not end.
std::vector<std::string> call_faults(const TraceDocument& trace, std::size_t* open = nullptr);

}  // namespace jtrace::test
