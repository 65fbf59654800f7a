#include "cli/profile_output.h"

#include <utility>

namespace jtrace::cli {

Result<std::string> profile_format(const std::string& format, const std::string& output) {
  if (!format.empty()) return format;
  if (output.empty()) return std::string("text");
  if (output == "-") return std::string("collapsed");
  if (const auto named = sampling::profile_format_of(output); !named.empty()) return std::string(named);
  return fail(ErrorCategory::kUsage, "the name " + output + " does not say what to write",
              "a name in .collapsed, .speedscope.json, .json, .pb.gz, .jfr, .html, .svg or .xml, or --format");
}

Result<std::unique_ptr<sampling::ProfileOutput>> open_profile_output(coreinspect::Inspection& inspection,
                                                                     const ProfilePlan& plan) {
  JTRACE_ASSIGN_OR_RETURN(auto bytes, open_whole_output(plan.output.empty() ? "-" : plan.output));
  if (plan.format != "xml")
    return sampling::make_profile_output(plan.format, plan.shape, plan.limits, std::move(bytes));
  auto identity = identity_of(inspection, false);
  identity.agent_parameters = plan.how;
  return sampling::make_profile_trace(inspection, std::move(identity), std::move(bytes));
}

}  // namespace jtrace::cli
