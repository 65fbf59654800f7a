// jtrace inspect FILE.hprof heapdump --redact -o OUT.hprof: the same dump without its contents.
#pragma once

#include <string>
#include <vector>

#include "cli/inspect_common.h"

namespace jtrace::cli {

// Returns what is missing from it, one line each. kUsage without --redact: it would be a copy.
Result<std::vector<std::string>> write_redacted_dump(const InspectArguments& arguments);

}  // namespace jtrace::cli
