// The answers of views of the object graph as events of trace.dtd: a snapshot with a `value` for each row.
//
// The row's first member is the name (a class in internal form), its bytes the value; all others are in
// serializationFormat, as KEY=VALUE after the view's name. Pure functions, any thread.
#pragma once

#include <string>

#include "coreinspect/graph/object_graph.h"
#include "coreinspect/tools/snapshot_events.h"
#include "coreinspect/tools/views.h"

namespace jtrace::cli {

// Whether the answer has that form.
bool is_made_of_values(const coreinspect::View& view, const coreinspect::ViewOptions& options);
// The document of --format json as XML.
Result<std::string> heap_values(const std::string& document, const coreinspect::View& view,
                                const std::vector<std::string>& missing, coreinspect::SnapshotIdentity identity);
// Of a heap dump, which knows neither its host nor its process.
coreinspect::SnapshotIdentity identity_of_dump(const coreinspect::ObjectGraph& graph);

}  // namespace jtrace::cli
