#include "coreinspect/tools/graph_text.h"

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {

std::size_t rows_of(const ViewOptions& options, std::size_t otherwise) {
  return options.heap.top > 0 ? options.heap.top : otherwise;
}

std::string object_text(const ObjectGraph& graph, std::uint32_t object) {
  return printable(graph.name(object)) + " @" + hex(graph.address(object));
}

Result<std::uint32_t> object_at(const ObjectGraph& graph, const std::string& text) {
  const auto address = parse_address(text);
  if (!address) return fail(ErrorCategory::kUsage, "not an address: " + text, "0x... as the other views print it");
  const std::uint32_t object = graph.find(*address);
  if (object == kNoObject) return fail(ErrorCategory::kNotFound, "no object at " + hex(*address));
  return object;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string figures(std::uint64_t retained, std::uint64_t all, std::uint64_t shallow) {
  char text[80];
  std::snprintf(text, sizeof text, "%14llu %5.1f %% %13llu  ", static_cast<unsigned long long>(retained),
                100 * share(retained, all), static_cast<unsigned long long>(shallow));
  return text;
}

namespace {

std::vector<std::string> undersized(const HeapTree& tree) {
  constexpr std::uint64_t kSmall = 1000;  // part of what is reachable
  return tree.graph().undersized_classes(tree.reachable() / kSmall);
}

// Which of the two it is, where the names tell.
std::string why_larger(const std::vector<std::string>& classes) {
  constexpr std::string_view kStack = "jdk.internal.vm.StackChunk", kStacks = "stacks of virtual threads";
  const auto stacks = std::count(classes.begin(), classes.end(), kStack);
  if (stacks == 0) return "@Contended";
  return std::string(kStacks) + (classes.size() > 1 ? ", @Contended" : "");
}

}  // namespace

std::vector<std::string> size_notes(const HeapTree& tree) {
  const ObjectGraph& graph = tree.graph();
  if (graph.shape_is_known()) return {};
  std::vector<std::string> notes = {"sizes are computed for references of " + std::to_string(graph.shape().reference) +
                                    " bytes and headers of " + std::to_string(graph.shape().header) +
                                    ": a heap dump does not have them"};
  if (const auto classes = undersized(tree); !classes.empty())
    notes.push_back("those of " + printable(classes.front()) +
                    (classes.size() == 1 ? "" : " and " + counted(classes.size() - 1, "other class", "other classes")) +
                    " are lower bounds: the objects are larger than their fields need (" + why_larger(classes) + ")");
  return notes;
}

void add_summary(const HeapTree& tree, const ViewOptions& options, ViewResult& result) {
  const ObjectGraph& graph = tree.graph();
  if (options.json) {
    JsonWriter json(result.members);
    result.members += "\"reachableBytes\":" + std::to_string(tree.reachable()) + ",\"sizes\":";
    json.value(graph.shape_is_known() ? "of the JVM" : "guessed");
    if (const auto classes = undersized(tree); !classes.empty()) {
      result.members += ",\"lowerBounds\":";
      JsonWriter names(result.members);
      names.begin_array();
      for (const std::string& each : classes) names.value(each);
      names.end_array();
    }
    result.members += ",\"held\":";
    JsonWriter held(result.members);
    held.begin_object();
    for (std::size_t i = 0; i < kStrengths; ++i)
      held.key(to_string(static_cast<Strength>(i)))
          .begin_object()
          .member("objects", tree.by_strength()[i].objects)
          .member("bytes", tree.by_strength()[i].shallow)
          .end_object();
    held.end_object();
    return;
  }
  result.out = std::to_string(tree.reachable()) + " bytes are reachable:";
  for (std::size_t i = 0; i < kStrengths; ++i) {
    const ClassRetained& sum = tree.by_strength()[i];
    if (sum.objects > 0)
      result.out += (i == 0 ? " " : ", ") + std::string(to_string(static_cast<Strength>(i))) + " " +
                    std::to_string(sum.shallow) + " (" + counted(sum.objects, "object") + ")";
  }
  result.out += "\n";
  for (const std::string& note : size_notes(tree)) result.out += note + "\n";
}

}  // namespace jtrace::coreinspect
