// A view of a target, printed in the common envelope of --format json, as text, or as events.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/inspect_common.h"
#include "cli/loaded_heap.h"
#include "coreinspect/graph/object_graph.h"

namespace jtrace::cli {

// The JSON object "target": of a process or core, of a heap dump.
void write_target(JsonWriter& json, const coreinspect::Inspection& inspection);
void write_dump_target(JsonWriter& json, const std::string& path, const coreinspect::ObjectGraph& graph);
// The whole document of --format json for a view.
std::string view_document(const coreinspect::Inspection& inspection, const coreinspect::View& view,
                          const coreinspect::ViewResult& result);
// Opens the target, runs the view, prints it; the exit status is kPartial if something is missing.
ExitStatus run_view(InspectArguments arguments, const coreinspect::View& view);
// The same for a heap that is read already; `arguments.target` names it.
ExitStatus run_view_of(const LoadedHeap& heap, InspectArguments arguments, const coreinspect::View& view);

}  // namespace jtrace::cli
