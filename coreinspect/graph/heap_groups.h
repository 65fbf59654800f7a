// The objects of a heap in groups, and what the objects of each group retain together.
//
// By package and by loader an object belongs to the group of its class, and a class (its static fields) to its own
// group; a class loader belongs to the group of the classes that it loaded. Arrays of primitives, and what the boot
// loader loaded, are of the boot loader. By thread, the groups are the thread objects. Only reachable objects count.
// Ownership: nothing. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/graph/heap_tree.h"

namespace jtrace::coreinspect {

// kLoaderKind: loaders of one class with one name are one group, so that two heaps can be compared.
enum class Grouping : std::uint8_t { kPackage, kLoader, kLoaderKind, kThread };

struct HeapGroup {
  std::string name;                  // "java.util", "app jdk.internal...AppClassLoader", "boot loader", "main"
  std::uint64_t members = 0;         // loaders or threads
  std::uint32_t object = kNoObject;  // the loader or thread, if it is one
  ClassRetained sum;
};
// Those with objects, in no order.
std::vector<HeapGroup> heap_groups(const HeapTree& tree, Grouping by);

}  // namespace jtrace::coreinspect
