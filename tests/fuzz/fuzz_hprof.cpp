// Any bytes as a heap dump: its records, the graph of its objects, dominators and paths.
#include <span>

#include "coreinspect/tools/graph_views.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace jtrace::coreinspect;
  auto file = HprofFile::of_view(std::as_bytes(std::span(data, size)), "dump");
  if (!file) return 0;
  const auto graph = ObjectGraph::build(std::move(*file), std::nullopt);
  if (!graph || (*graph)->size() == 0) return 0;
  ViewOptions options{.json = true};
  (void)graph_histogram(**graph, options);
  (void)graph_retained(**graph, options);
  (void)graph_dominators(**graph, options);
  (void)graph_leaks(**graph, options);
  (void)graph_waste(**graph, options);
  options.arguments = {"0x" + std::to_string((*graph)->address((*graph)->size() / 2))};
  (void)graph_paths(**graph, options);
  return 0;
}
