#include "cli/loaded_heap.h"

#include "cli/heap_dump_file.h"
#include "cli/view_run.h"
#include "coreinspect/tools/core_copy.h"
#include "coreinspect/tools/graph_events.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/heap_views.h"

namespace jtrace::cli {
namespace {

Result<LoadedHeap> of_dump(const std::string& path, unsigned threads) {
  LoadedHeap heap;
  JTRACE_ASSIGN_OR_RETURN(heap.graph, open_heap_graph(path, heap.missing, threads));
  JsonWriter json(heap.target);
  write_dump_target(json, path, *heap.graph);
  heap.identity = coreinspect::identity_of_dump(*heap.graph);
  return heap;
}

Result<LoadedHeap> of_jvm(const InspectArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(const auto inspection, open_inspection(arguments));
  JTRACE_RETURN_IF_ERROR(coreinspect::check_not_small(inspection->target(), "objects"));
  coreinspect::ViewOptions options = arguments.options;
  options.max_stop = arguments.max_stop;
  JTRACE_ASSIGN_OR_RETURN(auto made, coreinspect::graph_of(*inspection, options));
  LoadedHeap heap{.graph = std::move(made.graph),
                  .missing = std::move(made.missing),
                  .members = std::move(made.members),
                  .identity = identity_of(*inspection, arguments.options.show_secrets)};
  const auto lines = inspection->missing();
  heap.missing.insert(heap.missing.end(), lines.begin(), lines.end());
  note_unused_option(*inspection);
  JsonWriter json(heap.target);
  write_target(json, *inspection);
  return heap;
}

}  // namespace

bool is_dump_file(const std::string& target) { return is_file_name(target) && is_heap_dump(target); }

Result<LoadedHeap> load_heap(const InspectArguments& arguments) {
  auto heap = is_dump_file(arguments.target)
                  ? of_dump(arguments.target, coreinspect::threads_of(arguments.options.heap))
                  : of_jvm(arguments);
  if (!heap) return fail(heap.error().with_context("heap of " + arguments.target));
  return heap;
}

}  // namespace jtrace::cli
