// Walks over collections of java.util in the heap: hash tables by their nodes, whatever the VM is doing meanwhile.
//
// java.util.Hashtable (8's Properties), ConcurrentHashMap with its tree bins and HashMap keep the same names of fields
// in all of 8 to 27. A damaged chain ends; what could not be read is counted. Threads: one at a time.
#pragma once

#include <functional>
#include <string_view>

#include "coreinspect/oops/object_model.h"

namespace jtrace::coreinspect {

// Calls `take` with each node of `map`, an object with a field `table`. Returns how many buckets and links were
// unreadable.
Result<std::size_t> for_each_map_node(const ObjectModel& objects, Address map,
                                      const std::function<void(Address node)>& take);

// Value of a static reference field: in the class's mirror.
Result<Address> static_reference(const ObjectModel& objects, Address klass, std::string_view field);
Result<Address> mirror_of(const ObjectModel& objects, Address klass);

}  // namespace jtrace::coreinspect
