// System properties out of the heap: the table behind java.lang.System.props.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coreinspect/oops/java_collections.h"

namespace jtrace::coreinspect {

struct PropertyTable {
  std::vector<std::pair<std::string, std::string>> entries;  // by key
  std::size_t unreadable = 0;                                // entries that could not be read, or are no strings
};
Result<PropertyTable> read_system_properties(const ObjectModel& objects);

}  // namespace jtrace::coreinspect
