// -o and --format of `jtrace profile`.
#pragma once

#include <memory>
#include <string>

#include "cli/inspect_common.h"
#include "sampling/profile_output.h"

namespace jtrace::cli {

// --format if it is given, otherwise by the file's name. Errors: kUsage if the name has none.
Result<std::string> profile_format(const std::string& format, const std::string& output);
struct ProfilePlan {
  std::string format, output;  // `output` "": stdout
  std::string how;             // for a trace, for example "profile hz=99 cpu"
  sampling::ProfileCounts::Shape shape;
  sampling::TableLimits limits = 20;  // of each table of text
};
// `inspection`: the JVM of a trace (.xml), which has one.
Result<std::unique_ptr<sampling::ProfileOutput>> open_profile_output(coreinspect::Inspection& inspection,
                                                                     const ProfilePlan& plan);

}  // namespace jtrace::cli
