#include "session/live_watch_text.h"

#include <cstdio>

#include "base/size_text.h"
#include "base/strings.h"

namespace jtrace::session {

std::string time_of_day(std::uint64_t wall) {
  const std::uint64_t ms = wall / 1'000'000, seconds = ms / 1000;
  char text[40];
  std::snprintf(text, sizeof text, "%02u:%02u:%02u.%03u", static_cast<unsigned>(seconds / 3600 % 24),
                static_cast<unsigned>(seconds / 60 % 60), static_cast<unsigned>(seconds % 60),
                static_cast<unsigned>(ms % 1000));
  return text;
}

std::string duration_text(std::uint64_t ns) {
  char text[32];
  const double ms = static_cast<double>(ns) / 1e6;
  std::snprintf(text, sizeof text, ms < 10 ? "%.1f ms" : ms < 1000 ? "%.0f ms" : "%.1f s", ms < 1000 ? ms : ms / 1000);
  return text;
}

namespace {

// " (young, G1 Evacuation Pause)", as far as it is known.
std::string why(const trace::GcFinish& finish) {
  std::string text = printable(std::string(finish.kind.view()));
  if (finish.cause.present()) text.append(text.empty() ? "" : ", ").append(printable(std::string(finish.cause.view())));
  return text.empty() ? text : " (" + text + ")";
}

std::string heap_text(const trace::GcFinish& finish) {
  if (!finish.usedObjectSpace.present() || !finish.totalObjectSpace.present()) return {};
  const std::string of_heap =
      size_text(finish.usedObjectSpace.value()) + " of " + size_text(finish.totalObjectSpace.value());
  if (!finish.usedObjectSpaceBefore.present()) return "; then " + of_heap + " were used";
  return "; " + size_text(finish.usedObjectSpaceBefore.value()) + " were used before, then " + of_heap;
}

}  // namespace

std::string pause_text(const trace::GcFinish& finish) { return why(finish) + heap_text(finish); }

}  // namespace jtrace::session
