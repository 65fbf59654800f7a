#include "base/size_text.h"

#include <cstdio>

namespace jtrace {

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = 1u << 10, kMiB = 1u << 20, kGiB = 1u << 30;
  if (bytes < 10'000) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  const bool in_kib = bytes < 10 * kMiB && bytes % kMiB != 0, in_mib = bytes < 10 * kGiB && bytes % kGiB != 0;
  const std::uint64_t unit = in_kib ? kKiB : in_mib ? kMiB : kGiB;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", static_cast<double>(bytes) / static_cast<double>(unit),
                in_kib   ? "KiB"
                : in_mib ? "MiB"
                         : "GiB");
  return text;
}

std::string mib_text(std::uint64_t bytes) { return mib_text(static_cast<double>(bytes)); }

std::string mib_text(double bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f MiB", bytes / (1 << 20));
  return text;
}

std::string whole_mib_text(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace jtrace
