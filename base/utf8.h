// Encodes code points and UTF-16 as UTF-8. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jtrace {

// `code_point` is below 0x110000; a surrogate is encoded as it is.
void append_utf8(std::string& out, std::uint32_t code_point);
// A surrogate without its other half becomes U+FFFD.
std::string utf8_from_utf16(std::span<const std::uint16_t> units);
// The first bytes of UTF-8, as many as there are, without a part of a character.
std::string_view utf8_prefix(std::string_view text, std::size_t most);
// What the array of a java.lang.String holds: UTF-16 of this machine, of which half a unit at the end does not count,
// or Latin-1.
std::string utf8_from_java(std::span<const std::byte> bytes, bool is_utf16);

}  // namespace jtrace
