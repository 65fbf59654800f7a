// A heap dump as the target of a view: recognised by its first bytes, decompressed in memory if it is compressed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::cli {

// True for a regular file that is a heap dump, a compressed one, or one that has the name of a heap dump.
bool is_heap_dump(const std::string& path);
// The file, or what is packed in it; `missing`: lines are added if that is not all of it.
Result<coreinspect::HprofFile> open_heap_dump_file(const std::string& path, std::vector<std::string>& missing);
// Shows no progress and does not handle Ctrl-C. `missing`: as above.
Result<std::unique_ptr<coreinspect::ObjectGraph>> open_heap_graph(const std::string& path,
                                                                  std::vector<std::string>& missing, unsigned threads);

}  // namespace jtrace::cli
