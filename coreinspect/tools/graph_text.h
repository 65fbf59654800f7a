// Text that the views of the object graph share. Pure functions, any thread.
#pragma once

#include <string>

#include "coreinspect/graph/heap_tree.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {

constexpr std::size_t kGraphRows = 20;  // of a table, where none are asked for
constexpr const char* kRetainedHeading = "      retained   share       shallow  ";

// --rows, or otherwise so many.
std::size_t rows_of(const ViewOptions& options, std::size_t otherwise);
// "java.util.HashMap @0xc0000000".
std::string object_text(const ObjectGraph& graph, std::uint32_t object);
// The object at an address, as the views print it. kUsage: it is none; kNotFound: there is no object.
Result<std::uint32_t> object_at(const ObjectGraph& graph, const std::string& address);
double share(std::uint64_t part, std::uint64_t whole);
// The columns of kRetainedHeading.
std::string figures(std::uint64_t retained, std::uint64_t all, std::uint64_t shallow);
// How the sizes are known, if not from the JVM: sentences without a period.
std::vector<std::string> size_notes(const HeapTree& tree);
// What is reachable, and how; what is garbage. Begins the output.
void add_summary(const HeapTree& tree, const ViewOptions& options, ViewResult& result);

}  // namespace jtrace::coreinspect
