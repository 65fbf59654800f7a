// Sizes as people read them, for messages; tables and JSON have bytes. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>

namespace jtrace {

// "9999 bytes", "17.2 KiB", "64.0 MiB", "12.5 GiB": in the largest unit, of 1024, of which there are ten, or a whole
// number: "2.0 MiB".
std::string size_text(std::uint64_t bytes);

// The same in MiB whatever the size, for figures that are compared: "0.3 MiB". whole_mib_text: rounded down, "64 MiB".
std::string mib_text(std::uint64_t bytes);
std::string mib_text(double bytes);
std::string whole_mib_text(std::uint64_t bytes);

}  // namespace jtrace
