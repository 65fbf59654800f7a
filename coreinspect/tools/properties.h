// System properties out of the heap: the table behind java.lang.System.props.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coreinspect/oops/object_model.h"

namespace jtrace::coreinspect {

struct PropertyTable {
  std::vector<std::pair<std::string, std::string>> entries;  // by key
  std::size_t unreadable = 0;                                // entries that could not be read, or are no strings
};
Result<PropertyTable> read_system_properties(const ObjectModel& objects);

// Value of a static reference field: in the class's mirror. Errors: as ObjectModel.
Result<Address> static_reference(const ObjectModel& objects, Address klass, std::string_view field);
Result<Address> mirror_of(const ObjectModel& objects, Address klass);

}  // namespace jtrace::coreinspect
