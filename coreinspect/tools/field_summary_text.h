// What the fields of all objects of a class hold, as text and as JSON. Pure; any thread.
#pragma once

#include <string>

#include "coreinspect/tools/field_summary.h"

namespace jtrace::coreinspect {

// A line for each field of which there is something to say, after a heading; "" if there is none. `some`: there is
// garbage besides the objects.
std::string text_of(const FieldSummaries& summaries, bool some);
// The members fieldSummary and maskedFields, both arrays.
std::string json_members_of(const FieldSummaries& summaries);

}  // namespace jtrace::coreinspect
