// Names of files that are written one after the other, with their time in the name. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jtrace::sampling {

// "app.html" with a time of 1700000000 s: "app.20231114-221320.html" (UTC). `ending`: ".html".
std::string rotated_name(const std::string& output, const std::string& ending, std::uint64_t time);
// Of the files beside `output`: those that are rotated ones of it and begin before `oldest` (ns since the epoch).
std::vector<std::string> rotated_before(const std::string& output, const std::string& ending, std::uint64_t oldest);

}  // namespace jtrace::sampling
