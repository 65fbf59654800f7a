// A heap that is read once and asked several times: the graph of a heap dump, of a JVM at one moment, or of a core.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/inspect_common.h"
#include "coreinspect/graph/object_graph.h"

namespace jtrace::cli {

struct LoadedHeap {
  std::unique_ptr<coreinspect::ObjectGraph> graph;
  std::string target;                // as JSON
  std::vector<std::string> missing;  // what the graph itself does not say
  std::string members;               // further members of each answer, as JSON
  coreinspect::SnapshotIdentity identity;
};

// Whether a target is the file of a heap dump.
bool is_dump_file(const std::string& target);
// Of the target of the arguments; a live JVM is stopped as they say. Errors: those of the dump and of the graph.
Result<LoadedHeap> load_heap(const InspectArguments& arguments);

}  // namespace jtrace::cli
