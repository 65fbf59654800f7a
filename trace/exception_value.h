// How a methodExit says that an exception ended the call: by a `value` child of this name, with the exception's
// objIdRef where the trace has it (docs/methods.md).
#pragma once

#include <algorithm>
#include <string_view>

#include "trace/event.h"

namespace jtrace::trace {

inline constexpr std::string_view kExceptionValue = "exception";

// catch, `handler`: nothing in the method can read the exception, unless to throw it on as it is; or something can.
inline constexpr std::string_view kHandlerDrops = "drops";
inline constexpr std::string_view kHandlerUses = "uses";

// Null: the call returned.
inline const Value* exception_of(const MethodExit& exit) {
  const auto found = std::find_if(exit.values.begin(), exit.values.end(),
                                  [](const Value& each) { return each.name.view() == kExceptionValue; });
  return found == exit.values.end() ? nullptr : found;
}

}  // namespace jtrace::trace
