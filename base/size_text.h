// Sizes as people read them, for messages; tables and JSON have bytes. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace {

// "9999 bytes", "17.2 KiB", "64.0 MiB", "12.5 GiB": in the largest unit, of 1024, of which there are ten, or a whole
// number: "2.0 MiB".
std::string size_text(std::uint64_t bytes);

}  // namespace jtrace
