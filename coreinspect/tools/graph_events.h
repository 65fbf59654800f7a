// The answers of views of the object graph as events of trace.dtd: a snapshot with a `value` for each row.
//
// The row's first member is the name (a class in internal form), its bytes the value; all others are in
// serializationFormat, as KEY=VALUE after the view's name. Pure functions, any thread.
#pragma once

#include <string>

#include "coreinspect/graph/object_graph.h"
#include "coreinspect/tools/snapshot_events.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

// The document of --format json as XML, of a view that gives_values().
Result<std::string> values_document(const std::string& document, const View& view,
                                    const std::vector<std::string>& missing, SnapshotIdentity identity);
// Of a heap dump, which knows neither its host nor its process.
SnapshotIdentity identity_of_dump(const ObjectGraph& graph);

}  // namespace jtrace::coreinspect
