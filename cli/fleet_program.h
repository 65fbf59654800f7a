// Where jtrace-fleet is: a program of its own, because it links libnats (docs/fleet.md). Threads: one.
#pragma once

#include <string>

#include "base/result.h"

namespace jtrace::cli {

inline constexpr const char* kFleetProgram = "jtrace-fleet";

// Its path: beside this program, or in PATH. kNotFound.
Result<std::string> fleet_program();

}  // namespace jtrace::cli
