// Searches in the heap for a debugger: instances of classes, who refers to an object.
//
// What lies in the heap counts, reachable or not. Each is one walk over the heap, which ends early when the client is
// gone. What it could not read is noted in the World. Threads: one at a time. Errors: those of HeapAccess, kPartial if
// the client is gone.
#pragma once

#include <functional>
#include <vector>

#include "debug/world.h"

namespace jtrace::debug {

using Gone = std::function<bool()>;

// Objects of exactly these classes.
Result<std::vector<std::uint64_t>> count_instances(World& world, const std::vector<Address>& klasses, const Gone& gone);
// By address. `most`: 0 for all.
Result<std::vector<Address>> find_instances(World& world, Address klass, std::size_t most, const Gone& gone);
// Objects with a field or element that refers to `object`; a class object for its static fields.
Result<std::vector<Address>> find_referrers(World& world, Address object, std::size_t most, const Gone& gone);

}  // namespace jtrace::debug
