// Views and verdicts out of a bundle of jtrace diagnose (diagnose/bundle.h).
#pragma once

#include "base/temporary_file.h"
#include "cli/inspect_common.h"

namespace jtrace::cli {

// Prints the view as it was when the bundle was made; what it does not have is read from the core in it, if there is
// one.
ExitStatus run_bundle_view(const InspectArguments& arguments, const coreinspect::View& view);
// The core in a bundle, as a file that is removed with the object. Errors: kPartial if it has none.
Result<TemporaryFile> core_of_bundle(const std::string& path);
// Prints the verdict again; the status is that of then.
ExitStatus show_bundle_verdict(const std::string& path, bool json);
// Prints what changed; status 1: something was found that was not there before.
ExitStatus compare_bundles(const std::string& before, const std::string& after, bool json);

}  // namespace jtrace::cli
