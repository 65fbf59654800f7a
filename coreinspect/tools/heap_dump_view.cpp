// The view heapdump: the hprof file goes to the sink of the options, and a summary is the view's output.
#include "base/clock.h"
#include "coreinspect/hprof/heap_dumper.h"
#include "coreinspect/tools/core_redaction.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/heap_views.h"
#include "coreinspect/tools/hprof_redactor.h"

namespace jtrace::coreinspect {
namespace {

void append_counts(const HeapDumpCounts& counts, const ViewOptions& options, std::string& out) {
  const std::pair<const char*, std::uint64_t> rows[] = {{"classes", counts.classes},
                                                        {"instances", counts.instances},
                                                        {"objectArrays", counts.object_arrays},
                                                        {"primitiveArrays", counts.primitive_arrays},
                                                        {"threads", counts.threads},
                                                        {"virtualThreads", counts.virtual_threads},
                                                        {"frames", counts.frames},
                                                        {"jniGlobalRoots", counts.jni_globals},
                                                        {"jniLocalRoots", counts.jni_locals},
                                                        {"javaFrameRoots", counts.java_frames},
                                                        {"stickyClassRoots", counts.sticky_classes},
                                                        {"monitorRoots", counts.monitors},
                                                        {"fillersLeftOut", counts.fillers}};
  JsonWriter json(out);
  for (const auto& [name, count] : rows) {
    if (options.json) json.begin_object().member("record", name).member("count", count).end_object();
    else out += std::string(name) + " " + std::to_string(count) + "\n";
  }
}

// Where garbage is left out, or contents of some fields stay, which objects these are is known only when all are: the
// dump is made in memory first.
Result<ViewResult> dump_of_some(Inspection& inspection, const ViewOptions& options) {
  const HeapOptions& heap = options.heap;
  if (!heap.keep.empty() && is_redacted(inspection.target()))
    return fail(ErrorCategory::kUsage, "the core is redacted: it has no contents to keep");
  JTRACE_ASSIGN_OR_RETURN(DumpInMemory made, dump_in_memory(inspection, options));
  JTRACE_ASSIGN_OR_RETURN(const auto counts, write_some(std::move(made.file), heap, *heap.dump));
  ViewResult result{.missing = std::move(made.missing), .members = std::move(made.members)};
  result.missing.insert(result.missing.end(), counts.missing.begin(), counts.missing.end());
  append_counts(made.dump.counts, options, result.out);
  if (heap.reachable) result.members += ",\"garbageLeftOut\":" + std::to_string(counts.left_out);
  if (heap.redact) result.members += ",\"redacted\":true,\"keptBytes\":" + std::to_string(counts.kept);
  return result;
}

}  // namespace

Result<ViewResult> view_heapdump(Inspection& inspection, const ViewOptions& options) {
  if (!options.heap.dump)
    return fail(ErrorCategory::kUsage, "a heap dump needs a file", "-o FILE.hprof, FILE.hprof.gz, or - for a pipe");
  if (!options.heap.keep.empty() || options.heap.reachable) return dump_of_some(inspection, options);
  JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection, options, true));
  JTRACE_ASSIGN_OR_RETURN(auto dump, dump_heap(*access, *options.heap.dump, realtime_ns() / 1'000'000,
                                               threads_of(options.heap), options.heap.progress, options.heap.redact));
  ViewResult result;
  append_counts(dump.counts, options, result.out);
  append_walk_members(result.members, *access, dump.totals, 0);
  if (options.heap.redact) result.members += ",\"redacted\":true";
  result.missing = access->missing();
  for (const std::string& line : walk_faults(dump.totals)) result.missing.push_back(line);
  result.missing.insert(result.missing.end(), dump.missing.begin(), dump.missing.end());
  if (access->runs()) result.missing.push_back("read while the JVM ran: references may lead to objects that had moved");
  return result;
}

Result<RedactionCounts> write_some(HprofFile file, const HeapOptions& heap, trace::ByteSink& sink) {
  RewriteOptions rewrite{.redact = heap.redact};
  JTRACE_ASSIGN_OR_RETURN(rewrite.kept, KeptFields::of(heap.keep));
  if (!heap.reachable) return rewrite_dump(file, sink, heap.progress, rewrite);
  JTRACE_ASSIGN_OR_RETURN(const auto graph, ObjectGraph::build(std::move(file), std::nullopt, threads_of(heap)));
  rewrite.stays = [&](std::uint64_t id) {
    const std::uint32_t object = graph->find(id);
    return object == kNoObject || graph->strength(object) != Strength::kGarbage;
  };
  return rewrite_dump(graph->file(), sink, heap.progress, rewrite);
}

}  // namespace jtrace::coreinspect
