// Descriptors of types and methods (JVMS 4.3). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/runtime/method_model.h"

namespace jtrace::coreinspect {

// By the first letter of a descriptor: an object or array; what takes two slots.
constexpr bool is_reference(char type) { return type == 'L' || type == '['; }
constexpr bool is_wide(char type) { return type == 'J' || type == 'D'; }
// "(I[JLa/B;)V" as "I", "[J", "La/B;"; those before the first that is malformed.
std::vector<std::string> parameter_types(std::string_view descriptor);
// Slots of the arguments, with `this`; two for long and double.
std::uint32_t argument_words(const JavaMethod& method);
// The type of the argument that begins at that slot; "" if none does.
std::string argument_type(const JavaMethod& method, std::uint32_t slot);

}  // namespace jtrace::coreinspect
