// Numbers as Java writes them. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace::coreinspect {

// As Float.toString and Double.toString.
std::string java_number(double value);
std::string java_number(float value);
// The value of a primitive type, by its descriptor: as its toString. `bits`: the low bytes are the value.
std::string primitive_text(std::uint64_t bits, char type);

}  // namespace jtrace::coreinspect
