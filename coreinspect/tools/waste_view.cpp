// waste: what could be saved, as text and JSON.
#include <cstdio>

#include "base/strings.h"
#include "coreinspect/graph/waste_report.h"
#include "coreinspect/tools/graph_text.h"
#include "coreinspect/tools/graph_views.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kExamples = 3;      // in text
constexpr std::uint64_t kSmall = 10'000;  // of the heap: less is shown only where a number of rows is asked for

void write_json(const WasteFinding& found, std::uint64_t all, JsonWriter& json) {
  json.begin_object()
      .member("waste", found.kind)
      .member("class", found.of)
      .member("objects", found.objects)
      .member("bytes", found.bytes)
      .member("share", share(found.bytes, all))
      .member("holder", found.holder)
      .member("held", found.held);
  if (!found.examples.empty()) {
    json.key("examples").begin_array();
    for (const WasteExample& each : found.examples)
      json.begin_object()
          .member("text", each.text)
          .member("objects", each.objects)
          .member("bytes", each.bytes)
          .end_object();
    json.end_array();
  }
  json.end_object();
}

std::string text_of(const WasteFinding& found, std::uint64_t all) {
  char line[64];
  std::snprintf(line, sizeof line, "%14llu %5.1f %% %11llu  ", static_cast<unsigned long long>(found.bytes),
                100 * share(found.bytes, all), static_cast<unsigned long long>(found.objects));
  std::string text = line + found.kind + ": " + printable(found.of) + "; " + std::to_string(found.held) + " bytes by " +
                     printable(found.holder) + "\n";
  for (std::size_t i = 0; i < std::min(kExamples, found.examples.size()); ++i)
    text += std::string(36, ' ') + "\"" + printable(found.examples[i].text) + "\" " +
            counted(found.examples[i].objects, "time") + ": " + std::to_string(found.examples[i].bytes) + " bytes\n";
  return text;
}

}  // namespace

Result<ViewResult> graph_waste(const ObjectGraph& graph, const ViewOptions& options) {
  ViewResult result{.missing = graph.missing()};
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < graph.size(); ++i)
    if (graph.strength(i) != Strength::kGarbage) all += graph.bytes(i);
  if (graph.file().is_redacted())
    result.missing.push_back("equal strings and arrays, arrays of zeros: the heap dump is redacted");
  auto findings = find_waste(graph);
  if (options.heap.top == 0 && !options.json)
    std::erase_if(findings, [&](const WasteFinding& each) { return each.bytes < all / kSmall; });
  if (const std::size_t most = rows_of(options, options.json ? findings.size() : kGraphRows); findings.size() > most)
    findings.resize(most);
  if (options.json) {
    result.members = "\"reachableBytes\":" + std::to_string(all);
    JsonWriter json(result.out);
    for (const WasteFinding& each : findings) write_json(each, all, json);
    return result;
  }
  result.out = std::to_string(all) +
               " bytes are reachable. Of what could be saved, a byte may count in several rows.\n" +
               "         bytes   share     objects  waste: class; most of it by which field\n";
  for (const WasteFinding& each : findings) result.out += text_of(each, all);
  return result;
}

}  // namespace jtrace::coreinspect
