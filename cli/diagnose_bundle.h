// The bundle that `jtrace diagnose` makes of what it found.
#pragma once

#include "cli/diagnose_arguments.h"
#include "diagnose/bundle.h"
#include "diagnose/collect.h"

namespace jtrace::cli {

// Reads the further parts, and writes all as one file. The status: that of the verdict, or kPartial if a part is
// missing.
ExitStatus make_bundle(const DiagnoseArguments& arguments, diagnose::Collected& collected, diagnose::BundleFrame frame);

}  // namespace jtrace::cli
