#include "coreinspect/graph/waste_report.h"

#include <algorithm>
#include <array>

#include "coreinspect/graph/waste_rules.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kFew = 2, kSparse = 4;  // entries; slots for each entry

// By class number, as far as there are any.
using Sums = std::map<std::uint32_t, WasteSum>;

void finish(const WasteSearch& search, Sums& sums, const std::string& kind) {
  for (auto& [number, sum] : sums) sum.finish(kind, search.graph.classes()[number].name);
}

}  // namespace

void WasteSum::finish(const std::string& kind, const std::string& of, std::vector<WasteExample> examples) {
  if (bytes_ == 0) return;
  WasteFinding found{.kind = kind, .of = of, .objects = objects_, .bytes = bytes_, .examples = std::move(examples)};
  std::tie(found.holder, found.held) = holders_.largest();
  search_.findings.push_back(std::move(found));
}

void find_wasted_collections(WasteSearch& search) {
  const ObjectGraph& graph = search.graph;
  const Collections collections(graph);
  Sums empty, single, oversized;
  const auto add = [&](Sums& sums, std::uint32_t object, std::uint64_t bytes) {
    sums.try_emplace(graph.class_of(object), search).first->second.add(object, bytes);
  };
  for (std::uint32_t object = 0; object < graph.size(); ++object) {
    if (!search.counts(object)) continue;
    const auto state = collections.read(object);
    if (!state) continue;
    const std::uint64_t width = state->slots == 0 ? 0 : search.fields.length(state->array) / state->slots;
    const std::uint64_t whole = graph.bytes(object) + (state->slots == 0 ? 0 : graph.bytes(state->array));
    if (state->size == 0) add(empty, object, whole);
    else if (state->size < kFew) add(single, object, whole);
    else if (state->size * kSparse < state->slots)
      add(oversized, object, (state->slots - state->size) * width * graph.shape().reference);
  }
  finish(search, empty, "empty collections");
  finish(search, single, "single-entry collections");
  finish(search, oversized, "oversized collections");
}

void find_boxed_numbers(WasteSearch& search) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 8> kBoxes = {{{"java.lang.Boolean", 1},
                                                                                 {"java.lang.Byte", 1},
                                                                                 {"java.lang.Short", 2},
                                                                                 {"java.lang.Character", 2},
                                                                                 {"java.lang.Integer", 4},
                                                                                 {"java.lang.Float", 4},
                                                                                 {"java.lang.Long", 8},
                                                                                 {"java.lang.Double", 8}}};
  const ObjectGraph& graph = search.graph;
  std::vector<std::uint64_t> width(graph.classes().size(), 0);
  for (std::size_t i = 0; i < width.size(); ++i)
    for (const auto& [name, bytes] : kBoxes)
      if (graph.classes()[i].name == name) width[i] = bytes;
  Sums sums;
  for (std::uint32_t object = 0; object < graph.size(); ++object)
    if (const std::uint32_t its = graph.class_of(object); width[its] > 0 && search.counts(object))
      sums.try_emplace(its, search).first->second.add(object, graph.bytes(object) - width[its]);
  finish(search, sums, "boxed numbers");
}

std::vector<WasteFinding> find_waste(const ObjectGraph& graph) {
  WasteSearch search(graph);
  search.of_strings.assign(graph.size(), 0);
  if (!graph.file().is_redacted()) find_duplicate_strings(search);
  find_wasted_arrays(search);
  find_wasted_collections(search);
  find_boxed_numbers(search);
  find_empty_fields(search);
  std::stable_sort(search.findings.begin(), search.findings.end(),
                   [](const WasteFinding& a, const WasteFinding& b) { return a.bytes > b.bytes; });
  return std::move(search.findings);
}

}  // namespace jtrace::coreinspect
