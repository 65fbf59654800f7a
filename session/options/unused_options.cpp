#include "session/options/unused_options.h"

#include <algorithm>

#include "trace/record/control.h"
#include "trace/record/event_words.h"
#include "trace/record/start_options.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;

struct Need {
  std::string_view option;
  std::uint64_t events;  // one of them
  std::string_view words;
};
// Of `objects` they select the classes.
constexpr std::uint64_t kFiltered = record::kCalloutEvents | record::kObjAllocEvent;
constexpr record::ConstantList kFilteredGroups = record::groups_of(kFiltered, " or ");
constexpr Need kNeeds[] = {
    {"filter", kFiltered, kFilteredGroups.view()},
    {"filters", kFiltered, kFilteredGroups.view()},
    {record::kMinContentionOption, record::kMonContendedEnterEvent, "monitors"},
    {record::kMonitorOwnerOption, record::kMonContendedEnterEvent, "monitors"},
    {record::kSampleIntervalOption, record::kObjAllocEvent, "objects (allocations has every object)"},
    {record::kStackDepthOption, record::kObjAllocEvent | record::kAllocationEvent, "objects or allocations"},
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
  if (is_given(record::kBlockLimitOption) && !options.block_when_full)
    lines.push_back("option block-limit has no effect: it is for --when-full block");
  return lines;
}

}  // namespace jtrace::session
