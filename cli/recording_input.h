// BEFORE and AFTER of jtrace diff, IN of jtrace report: a trace, a profile of collapsed stacks or speedscope, or the
// JSON of a class histogram, distinguished by what the file begins with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/io/stack_profile.h"
#include "trace/io/trace_diff.h"

namespace jtrace::cli {

// The profile that is the only input; nothing if there are several, or it is not a profile, or "-".
Result<std::optional<trace::io::StackProfile>> read_only_profile(const std::vector<std::string>& inputs);
// The samples of the only input if it is the document of jtrace profile -o x.xml, whose calls have no time; else
// nothing.
Result<std::optional<trace::io::StackProfile>> read_profile_document(const std::vector<std::string>& inputs);

// Any of them. What a trace lacks (lacks_of()) is in Recording::missing; faults are warned of. `name`: what to call it;
// "": its path.
Result<trace::io::Recording> read_recording(const std::string& path, const std::string& name = "");

}  // namespace jtrace::cli
