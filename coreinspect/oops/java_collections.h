// Walks over collections of java.util in the heap: reads the nodes of hash tables, independent of what the VM is doing.
//
// java.util.Hashtable (JDK 8's Properties), ConcurrentHashMap with its tree bins and HashMap have the same field names
// in JDK 8 to 27. The walk of a damaged chain ends there; unreadable parts are counted. Threads: one at a time.
#pragma once

#include <functional>
#include <string_view>

#include "coreinspect/oops/object_model.h"

namespace jtrace::coreinspect {

// Calls `take` with each node of `map`, an object with a field `table`. Returns the number of unreadable buckets and
// links.
Result<std::size_t> for_each_map_node(const ObjectModel& objects, Address map,
                                      const std::function<void(Address node)>& take);

// Value of a static reference field, which is stored in the class's mirror.
Result<Address> static_reference(const ObjectModel& objects, Address klass, std::string_view field);
Result<Address> mirror_of(const ObjectModel& objects, Address klass);

}  // namespace jtrace::coreinspect
