#include "base/utc_text.h"

#include <ctime>

namespace jtrace {

std::string utc_text(std::int64_t ns, const char* format) {
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace jtrace
