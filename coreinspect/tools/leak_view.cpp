// leaks: the suspects as text and JSON.
#include "base/strings.h"
#include "coreinspect/graph/leak_report.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

constexpr const char* kNextLook =
    "what grows: jtrace inspect PID heapdump -o before.hprof, and later: jtrace heap diff before.hprof PID --by path\n"
    "who makes the objects: jtrace allocations PID --class CLASS; with --filter 'com.example.*' each one, not "
    "samples\n";

void write_json(const HeapTree& tree, const LeakSuspect& suspect, JsonWriter& json) {
  json.begin_object()
      .member("suspect", suspect.kind)
      .member("holder", suspect.holder)
      .member("class", suspect.of)
      .member("retained", suspect.retained)
      .key("evidence")
      .begin_array();
  for (const std::string& line : suspect.evidence) json.value(line);
  json.end_array().member("sentence", suspect.sentence).member("entries", suspect.entries);
  if (suspect.may_be_bounded) json.member("mayBeBounded", true);
  if (suspect.kind != "direct buffers") json.member("share", share(suspect.retained, tree.reachable()));
  if (suspect.object != kNoObject) json.member("address", hex(tree.graph().address(suspect.object)));
  json.end_object();
}

std::string text_of(const HeapTree& tree, const LeakSuspect& suspect, std::size_t number) {
  std::string text = "\n" + std::to_string(number) + ". " + suspect.kind + ": " + printable(suspect.sentence) + "\n";
  for (const std::string& line : suspect.evidence) text += "   - " + printable(line) + "\n";
  if (suspect.object != kNoObject)
    text += "   - dominators --object " + hex(tree.graph().address(suspect.object)) + " shows what it keeps\n";
  return text;
}

}  // namespace

Result<ViewResult> graph_leaks(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  const HeapTree tree(graph);
  add_summary(tree, options, result);
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
    for (const LeakSuspect& suspect : report.suspects) write_json(tree, suspect, json);
    return result;
  }
  result.out += all == 0 ? "no suspect\n" : counted(all, "suspect") + " by size: one look cannot know what grows\n";
  for (std::size_t i = 0; i < report.suspects.size(); ++i) result.out += text_of(tree, report.suspects[i], i + 1);
  if (all > 0) result.out += std::string("\n") + kNextLook;
  result.out += "\nlooked at:\n";
  for (const std::string& line : report.looked_at) result.out += "   - " + printable(line) + "\n";
  return result;
}

}  // namespace jtrace::coreinspect
