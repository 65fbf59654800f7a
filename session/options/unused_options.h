// Options that were given and change nothing about the chosen events: a user who gives one expects an effect. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "session/options/options.h"

namespace jtrace::session {

// A line for each, "option filter has no effect: ..."; `given`: names of the options that were given.
std::vector<std::string> unused_options(const TraceOptions& options, std::span<const std::string_view> given);

}  // namespace jtrace::session
