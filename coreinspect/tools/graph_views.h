// Views of the object graph: who keeps what. Of a heap dump, and of a JVM or core whose heap is dumped into memory
// first.
//
// Threads: one at a time. Errors: those of the dump and of ObjectGraph.
#pragma once

#include "coreinspect/graph/heap_tree.h"
#include "coreinspect/graph/object_graph.h"
#include "coreinspect/hprof/heap_dumper.h"
#include "coreinspect/tools/hprof_redactor.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

Result<ViewResult> graph_histogram(const ObjectGraph& graph, const ViewOptions& options);
Result<ViewResult> graph_retained(const ObjectGraph& graph, const ViewOptions& options);
Result<ViewResult> graph_dominators(const ObjectGraph& graph, const ViewOptions& options);
// retained --by package, loader or thread.
Result<ViewResult> retained_by_group(const ObjectGraph& graph, const ViewOptions& options);
// dominators --by-class, after what `result` has already.
ViewResult class_tree_view(const HeapTree& tree, const ViewOptions& options, ViewResult result);
Result<ViewResult> graph_paths(const ObjectGraph& graph, const ViewOptions& options);
Result<ViewResult> graph_leaks(const ObjectGraph& graph, const ViewOptions& options);
// Of the object at an address.
Result<ViewResult> graph_object(const ObjectGraph& graph, const ViewOptions& options);
Result<ViewResult> graph_instances(const ObjectGraph& graph, const ViewOptions& options);
// Of a class, or of the object at an address.
Result<ViewResult> graph_refs(const ObjectGraph& graph, const ViewOptions& options);
// Which reachable strings have a text that the pattern matches.
Result<ViewResult> graph_strings(const ObjectGraph& graph, const ViewOptions& options);
// Which fields and elements of reachable objects hold a value.
Result<ViewResult> graph_value_search(const ObjectGraph& graph, const ViewOptions& options);
// What the page of a heap shows, as one JSON object.
Result<ViewResult> graph_page(const ObjectGraph& graph, const ViewOptions& options);
Result<ViewResult> graph_waste(const ObjectGraph& graph, const ViewOptions& options);

// The heap of a live JVM or a core as a dump that has no file.
struct DumpInMemory {
  HprofFile file;
  HeapDumpResult dump;
  std::vector<std::string> missing;  // all that is
  std::string members;               // "heap": the figures of the walk, for JSON
};
Result<DumpInMemory> dump_in_memory(Inspection& inspection, const ViewOptions& options);

// Writes a dump again by `heap`: without garbage (reachable), without contents (redact) but those of `keep`.
Result<RedactionCounts> write_some(HprofFile file, const HeapOptions& heap, trace::ByteSink& sink);

// The graph of such a dump.
struct DumpedGraph {
  std::unique_ptr<ObjectGraph> graph;
  std::vector<std::string> missing;  // of the dump
  std::string members;               // "heap": the figures of the walk, for JSON
};
Result<ViewResult> view_strings(Inspection& inspection, const ViewOptions& options);
Result<ViewResult> view_values(Inspection& inspection, const ViewOptions& options);
Result<DumpedGraph> graph_of(Inspection& inspection, const ViewOptions& options);

}  // namespace jtrace::coreinspect
