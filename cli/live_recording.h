// AFTER of jtrace diff where it is a JVM: recorded as BEFORE was, by this program in a child.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "trace/io/trace_diff.h"

namespace jtrace::cli {

// The arguments of jtrace that make such a recording of the JVM, on standard output: attach, profile or inspect, with
// the options that BEFORE names (recorded_with.h). `duration` as of --duration; "": as long as BEFORE took, 30 s if it
// does not say. kUsage: BEFORE does not say how it was recorded, or takes no time and a duration is given.
Result<std::vector<std::string>> words_like(const trace::io::Recording& before, const std::string& jvm,
                                            const std::string& duration);
// Runs that, says so in a line, and reads what it made, of which nothing is kept. Ctrl-C ends the recording early. An
// error without a text: the child has said what is wrong.
Result<trace::io::Recording> record_like(const trace::io::Recording& before, const std::string& jvm,
                                         const std::string& duration);

// Whether its stacks have waits (profile --wall, --off-cpu), and nothing else.
struct Waits {
  bool some = false, only = false;
};
Waits waits_of(const trace::io::StackProfile& profile);

}  // namespace jtrace::cli
