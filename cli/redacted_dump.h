// jtrace inspect FILE.hprof heapdump --redact|--reachable -o OUT.hprof: the same dump without contents, without
// garbage.
#pragma once

#include <string>
#include <vector>

#include "cli/inspect_common.h"

namespace jtrace::cli {

// Returns what is missing from it, one line each. kUsage with neither: it would be a copy.
Result<std::vector<std::string>> write_redacted_dump(const InspectArguments& arguments);

}  // namespace jtrace::cli
