// The graph of a JVM or a core: its heap is dumped into memory without a name, and read there as any dump.
#include <sys/mman.h>

#include "base/clock.h"
#include "base/free_memory.h"
#include "base/size_text.h"
#include "coreinspect/hprof/heap_dumper.h"
#include "coreinspect/tools/core_redaction.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/heap_views.h"

namespace jtrace::coreinspect {
namespace {

// arrayOopDesc::base_offset_in_bytes: before 23 the length of an array without compressed class pointers was padded.
constexpr int kNoPaddingFrom = 23;

HeapShape shape_of(const Inspection& inspection) {
  const ObjectModel& objects = inspection.objects();
  HeapShape shape{.reference = objects.reference_size()};
  shape.header = objects.compact_headers() ? 8 : objects.compressed_classes() ? 12 : 16;
  shape.array_header = shape.header + 4;
  if (shape.header == 16 && inspection.vm().feature() < kNoPaddingFrom) shape.array_header = 24;
  if (const VmFlag* flag = inspection.vm().flag("ObjectAlignmentInBytes"))
    shape.alignment = std::max(8u, parse_decimal<std::uint32_t>(flag->value).value_or(8));
  return shape;
}

// A dump is a little larger than the heap: references have 8 bytes there.
Result<> check_room(const HeapAccess& access) {
  const std::uint64_t used = access.layout().used(), free = free_memory();
  if (used + used / 2 < free) return {};
  return fail(ErrorCategory::kRefused,
              "a heap of " + size_text(used) + " is analysed in memory, of which " + size_text(free) + " are free",
              "inspect heapdump -o FILE.hprof, and inspect the file where there is more");
}

}  // namespace

Result<DumpInMemory> dump_in_memory(Inspection& inspection, const ViewOptions& options) {
  UniqueFd memory(::memfd_create("jtrace-heap", MFD_CLOEXEC));
  if (!memory) return fail(system_error("cannot get memory for the heap"));
  JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection, options, true));
  JTRACE_RETURN_IF_ERROR(check_room(*access));
  trace::FdSink sink(memory.get(), "memory");
  JTRACE_ASSIGN_OR_RETURN(auto dump, dump_heap(*access, sink, realtime_ns() / 1'000'000, threads_of(options.heap),
                                               options.heap.progress, is_redacted(inspection.target())));
  JTRACE_RETURN_IF_ERROR(sink.finish());
  std::vector<std::string> missing = access->missing();
  for (const std::string& line : walk_faults(dump.totals)) missing.push_back(line);
  missing.insert(missing.end(), dump.missing.begin(), dump.missing.end());
  if (access->runs()) missing.push_back("read while the JVM ran: references may lead to objects that had moved");
  std::string members;
  append_walk_members(members, *access, dump.totals, 0);
  JTRACE_ASSIGN_OR_RETURN(HprofFile file, HprofFile::open(std::move(memory), "the heap"));
  return DumpInMemory{std::move(file), std::move(dump), std::move(missing), std::move(members)};
}

Result<DumpedGraph> graph_of(Inspection& inspection, const ViewOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(DumpInMemory made, dump_in_memory(inspection, options));
  JTRACE_ASSIGN_OR_RETURN(auto graph, ObjectGraph::build(std::move(made.file), shape_of(inspection),
                                                         threads_of(options.heap), made.dump.sizes));
  return DumpedGraph{std::move(graph), std::move(made.missing), std::move(made.members)};
}

namespace {

template <Result<ViewResult> (*kView)(const ObjectGraph&, const ViewOptions&)>
Result<ViewResult> by_graph(Inspection& inspection, const ViewOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(DumpedGraph made, graph_of(inspection, options));
  JTRACE_ASSIGN_OR_RETURN(ViewResult result, kView(*made.graph, options));
  result.missing.insert(result.missing.begin(), made.missing.begin(), made.missing.end());
  result.members += (result.members.empty() ? "" : ",") + made.members;
  return result;
}

}  // namespace

Result<ViewResult> view_reachable(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_histogram>(inspection, options);
}
Result<ViewResult> view_retained(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_retained>(inspection, options);
}
Result<ViewResult> view_dominators(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_dominators>(inspection, options);
}
Result<ViewResult> view_paths(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_paths>(inspection, options);
}
Result<ViewResult> view_leaks(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_leaks>(inspection, options);
}
Result<ViewResult> view_page(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_page>(inspection, options);
}
Result<ViewResult> view_instances(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_instances>(inspection, options);
}
Result<ViewResult> view_strings(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_strings>(inspection, options);
}
Result<ViewResult> view_values(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_value_search>(inspection, options);
}
Result<ViewResult> view_class_refs(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_refs>(inspection, options);
}
Result<ViewResult> view_waste(Inspection& inspection, const ViewOptions& options) {
  return by_graph<graph_waste>(inspection, options);
}

}  // namespace jtrace::coreinspect
