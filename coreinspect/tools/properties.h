// System properties from the heap: the table of java.lang.System.props.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coreinspect/oops/java_collections.h"

namespace jtrace::coreinspect {

struct PropertyTable {
  std::vector<std::pair<std::string, std::string>> entries;  // by key
  std::size_t unreadable = 0;                                // entries that could not be read, or are not strings
};
Result<PropertyTable> read_system_properties(const ObjectModel& objects);

}  // namespace jtrace::coreinspect
