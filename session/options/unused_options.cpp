#include "session/options/unused_options.h"

#include <algorithm>

#include "trace/record/control.h"

namespace jtrace::session {
namespace {

struct Need {
  std::string_view option;
  std::uint64_t events;  // one of them
  std::string_view words;
};
constexpr std::string_view kOfMethods = "methods, calls, counts, lines, exceptions or allocations";
constexpr Need kNeeds[] = {
    {"filter", trace::record::kProbeEvents, kOfMethods},
    {"filters", trace::record::kProbeEvents, kOfMethods},
    {"min-contention", trace::record::kMonContendedEnterEvent, "monitors"},
    {"monitor-owner", trace::record::kMonContendedEnterEvent, "monitors"},
    {"sample-interval", trace::record::kObjAllocEvent, "objects (allocations has every object)"},
    {"stack-depth", trace::record::kObjAllocEvent | trace::record::kAllocationEvent, "objects or allocations"},
};

}  // namespace

std::vector<std::string> unused_options(const TraceOptions& options, std::span<const std::string_view> given) {
  std::vector<std::string> lines;
  const auto is_given = [&](std::string_view name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  for (const Need& need : kNeeds)
    if (is_given(need.option) && (options.events & need.events) == 0)
      lines.push_back("option " + std::string(need.option) + " has no effect: it is for --events " +
                      std::string(need.words));
  if (is_given("block-limit") && !options.block_when_full)
    lines.push_back("option block-limit has no effect: it is for --when-full block");
  return lines;
}

}  // namespace jtrace::session
