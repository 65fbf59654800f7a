// A flame graph of stacks as one static SVG picture: no script, each frame's full name and share as its tooltip. Pure.
#pragma once

#include <string>
#include <string_view>

#include "trace/io/stack_profile.h"

namespace jtrace::trace::io {

// `note`: a line below the title, for example how the samples were taken; "" for none. Frames too narrow to see are
// left out, and the picture says how many.
std::string flame_svg(const StackProfile& profile, std::string_view title, std::string_view note);

}  // namespace jtrace::trace::io
