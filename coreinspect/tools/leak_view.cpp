// leaks: the suspects of one look, or what grew between several, as text and JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/size_text.h"
#include "base/strings.h"
#include "coreinspect/graph/leak_growth.h"
#include "coreinspect/graph/leak_report.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

constexpr const char* kNextLook =
    "what grows, and how fast: jtrace inspect PID leaks --duration 1m; over hours: jtrace inspect PID heapdump -o "
    "before.hprof, and later: jtrace heap diff before.hprof PID --by path\n";
constexpr const char* kWhoMakes =
    "\nwho makes the objects: jtrace allocations PID --class CLASS; with --filter 'com.example.*' each one, not "
    "samples\n";

void write_members(const HeapTree& tree, const LeakSuspect& suspect, JsonWriter& json) {
  json.member("suspect", suspect.kind);
  if (!suspect.field.empty()) json.member("field", suspect.field);
  json.member("holder", suspect.holder)
      .member("class", suspect.of)
      .member("retained", suspect.retained)
      .key("evidence")
      .begin_array();
  for (const std::string& line : suspect.evidence) json.value(line);
  json.end_array().member("sentence", suspect.sentence).member("entries", suspect.entries);
  if (suspect.may_be_bounded) json.member("mayBeBounded", true);
  if (suspect.kind != "direct buffers") json.member("share", share(suspect.retained, tree.reachable()));
  if (suspect.object != kNoObject) json.member("address", hex(tree.graph().address(suspect.object)));
}

std::string evidence_of(const HeapTree& tree, const LeakSuspect& suspect) {
  std::string text;
  for (const std::string& line : suspect.evidence) text += "   - " + printable(line) + "\n";
  if (suspect.object != kNoObject)
    text += "   - jtrace inspect PID dominators --object " + hex(tree.graph().address(suspect.object)) +
            " shows what it keeps\n";
  return text;
}

std::string numbered(std::size_t number, const LeakSuspect& suspect) {
  return "\n" + std::to_string(number) + ". " + suspect.kind + ": ";
}

void write_growth(const GrowingLeak& leak, JsonWriter& json) {
  json.member("grewEachTime", leak.grew_each_time)
      .member("bytesPerSecond", leak.bytes_per_second)
      .member("entriesPerSecond", leak.entries_per_second)
      .key("looks")
      .begin_array();
  for (const LeakSize& size : leak.sizes) {
    json.begin_object().member("seconds", size.seconds);
    if (size.found())
      json.member("retained", size.retained).member("entries", size.entries).member("suspects", size.suspects);
    json.end_object();
  }
  json.end_array();
}

// "+20.1 KiB/s (1.2 MiB a minute, 70.7 MiB an hour), +13.2 entries/s".
std::string rate_text(const GrowingLeak& leak) {
  constexpr double kMinute = 60, kHour = 3600;
  const double bytes = std::abs(leak.bytes_per_second);
  const std::string sign = leak.bytes_per_second < 0 ? "-" : "+", below = leak.bytes_per_second < 0 ? "-" : "";
  std::string text = sign + size_text(static_cast<std::uint64_t>(bytes)) + "/s (" + below +
                     size_text(static_cast<std::uint64_t>(bytes * kMinute)) + " a minute, " + below +
                     size_text(static_cast<std::uint64_t>(bytes * kHour)) + " an hour)";
  char entries[40];
  std::snprintf(entries, sizeof entries, ", %+.1f entries/s", leak.entries_per_second);
  return leak.entries_per_second == 0 ? text : text + entries;
}

std::string sizes_text(const GrowingLeak& leak) {
  std::string bytes, entries, suspects;
  bool several = false;
  for (const LeakSize& size : leak.sizes) {
    const char* comma = bytes.empty() ? "" : ", ";
    bytes += comma + (size.found() ? std::to_string(size.retained) : std::string("not found"));
    entries += comma + (size.found() ? std::to_string(size.entries) : std::string("-"));
    suspects += comma + std::to_string(size.suspects);
    several = several || size.suspects > 1;
  }
  return "at the looks: " + bytes + " bytes" + (leak.suspect.entries == 0 ? "" : "; " + entries + " entries") +
         (several ? "; of " + suspects + " such objects in this place together" : "");
}

// What was only filled, as at the start of a program, grows less and less. "" if that is not so.
std::string slowing_text(const GrowingLeak& leak) {
  constexpr double kLess = 0.25;
  const auto& sizes = leak.sizes;
  if (!leak.grew_each_time || sizes.size() < 3 || !sizes[sizes.size() - 3].found()) return {};
  const bool by_entries = leak.entries_per_second > 0;
  const auto step = [&](std::size_t i) {
    const LeakSize &before = sizes[i - 1], &after = sizes[i];
    const auto amount = [&](const LeakSize& of) { return static_cast<double>(by_entries ? of.entries : of.retained); };
    return std::pair(amount(after) - amount(before), after.seconds - before.seconds);
  };
  const auto [first, first_time] = step(sizes.size() - 2);
  const auto [last, last_time] = step(sizes.size() - 1);
  if (first_time <= 0 || last_time <= 0 || last / last_time >= kLess * first / first_time) return {};
  char text[160];
  std::snprintf(text, sizeof text,
                "   - it grew less at the end: %+.0f, then %+.0f %s; a later look tells whether it goes on\n", first,
                last, by_entries ? "entries" : "bytes");
  return text;
}

ViewResult growth_view(const HeapTree& tree, const ViewOptions& options, ViewResult result) {
  const LeakGrowth& growth = *options.heap.growth;
  std::vector<GrowingLeak> leaks = growth.result();
  const auto growing = static_cast<std::size_t>(
      std::count_if(leaks.begin(), leaks.end(), [](const GrowingLeak& leak) { return leak.grew_each_time; }));
  const std::size_t all = leaks.size();
  if (const std::size_t most = rows_of(options, kGraphRows); all > most) leaks.resize(most);
  if (options.json) {
    result.members += ",\"suspects\":" + std::to_string(all) + ",\"grewEachTime\":" + std::to_string(growing);
    JsonWriter json(result.out);
    for (const GrowingLeak& leak : leaks) {
      json.begin_object();
      write_members(tree, leak.suspect, json);
      write_growth(leak, json);
      json.end_object();
    }
    return result;
  }
  char heading[160];
  std::snprintf(heading, sizeof heading, "%zu looks in %.1f s: %s grew each time\n", growth.looks(), growth.seconds(),
                growing == 0 ? "nothing that looks like a leak" : counted(growing, "suspect").c_str());
  result.out += heading;
  for (std::size_t i = 0; i < leaks.size(); ++i) {
    const GrowingLeak& leak = leaks[i];
    result.out += numbered(i + 1, leak.suspect) +
                  (leak.grew_each_time ? "grew each time, " : "did not grow each time, ") + rate_text(leak) +
                  "\n   - " + printable(leak.suspect.sentence) + "\n   - " + sizes_text(leak) + "\n" +
                  slowing_text(leak) + evidence_of(tree, leak.suspect);
  }
  if (growing > 0) result.out += kWhoMakes;
  else result.out += "what fills up and is emptied from time to time, or grows slower, needs a longer --duration\n";
  return result;
}

}  // namespace

Result<ViewResult> graph_leaks(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  const HeapTree tree(graph);
  add_summary(tree, options, result);
  if (options.heap.growth != nullptr) return growth_view(tree, options, std::move(result));
  LeakReport report = find_leaks(tree);
  const std::size_t all = report.suspects.size();
  if (const std::size_t most = rows_of(options, kGraphRows); all > most) report.suspects.resize(most);
  if (options.json) {
    result.members += ",\"suspects\":" + std::to_string(all) + ",\"lookedAt\":";
    JsonWriter looked(result.members);
    looked.begin_array();
    for (const std::string& line : report.looked_at) looked.value(line);
    looked.end_array();
    JsonWriter json(result.out);
    for (const LeakSuspect& suspect : report.suspects) {
      json.begin_object();
      write_members(tree, suspect, json);
      json.end_object();
    }
    return result;
  }
  result.out += all == 0 ? "no suspect\n" : counted(all, "suspect") + " by size: one look cannot know what grows\n";
  for (std::size_t i = 0; i < report.suspects.size(); ++i) {
    const LeakSuspect& suspect = report.suspects[i];
    result.out += numbered(i + 1, suspect) + printable(suspect.sentence) + "\n" + evidence_of(tree, suspect);
  }
  if (all > 0) result.out += kWhoMakes;
  result.out += kNextLook;
  result.out += "\nlooked at:\n";
  for (const std::string& line : report.looked_at) result.out += "   - " + printable(line) + "\n";
  return result;
}

}  // namespace jtrace::coreinspect
