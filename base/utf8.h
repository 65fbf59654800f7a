// UTF-8 of code points and of UTF-16. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace jtrace {

// `code_point`: below 0x110000; surrogates are written as they are.
void append_utf8(std::string& out, std::uint32_t code_point);
// A surrogate without its other half becomes U+FFFD.
std::string utf8_from_utf16(std::span<const std::uint16_t> units);

}  // namespace jtrace
