// A part of all as text: " 71 %". Header only. Any thread.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace jtrace::sampling {

inline std::string share_text(std::uint64_t part, std::uint64_t all) {
  char text[32];
  std::snprintf(text, sizeof text, " %.0f %%",
                all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

}  // namespace jtrace::sampling
