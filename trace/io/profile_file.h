// Files of profilers: collapsed stacks or speedscope's JSON, distinguished by what the file begins with, packed or not.
// Any thread. Errors name the file.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "trace/io/stack_profile.h"

namespace jtrace::trace::io {

// What is read whole is not longer, unpacked: 1 GiB.
inline constexpr std::size_t kMostProfile = 1u << 30;

// The first 4 KiB of the file, unpacked, or fewer if it is shorter.
Result<std::string> first_bytes(const std::string& path);
// The whole file, unpacked. kMalformed if it is longer than kMostProfile.
Result<std::string> read_unpacked(const std::string& path);
// A profile, or nothing if the file is none.
Result<std::optional<StackProfile>> read_profile(const std::string& path);

}  // namespace jtrace::trace::io
