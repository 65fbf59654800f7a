// Numbers as Float.toString and Double.toString write them. Pure.
#pragma once

#include <string>

namespace jtrace::coreinspect {

std::string java_number(double value);
std::string java_number(float value);

}  // namespace jtrace::coreinspect
