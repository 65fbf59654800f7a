// Which addresses of a JVM belong to which part of its memory, as far as the JVM's own tables and its threads show it.
//
// Each function adds ranges to the map, and a line to `missing` for what it could not find. Borrows the inspection.
// Threads: one at a time. What is read was in use before: no page appears in the target.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/model/inspection.h"
#include "coreinspect/tools/memory_parts.h"
#include "target/pagemap.h"

namespace jtrace::coreinspect {

using PagesOfMappings = std::vector<target::MappedPages>;  // by address

struct HeapBounds {
  Address start = 0, end = 0;  // reserved; 0 with ZGC, which has views of one file instead
  std::uint64_t max_size = 0;  // bytes: MaxHeapSize, or end - start
  HeapLayout layout;
  bool has_layout = false;
};

// The heap: [start, top) of its regions is used, the rest is not.
HeapBounds find_heap(Inspection& inspection, PartMap& parts, std::vector<std::string>& missing);
void find_code(Inspection& inspection, PartMap& parts, std::vector<std::string>& missing);
// Metaspace and class space; the archive of shared classes where it is not mapped from its file.
void find_metaspace(Inspection& inspection, const PagesOfMappings& mappings, PartMap& parts,
                    std::vector<std::string>& missing);
// Stacks of Java threads; stacks of the others by their stack pointers and by the guard page below a stack.
void find_stacks(Inspection& inspection, const PagesOfMappings& mappings, PartMap& parts,
                 std::vector<std::string>& missing);
void find_card_table(Inspection& inspection, PartMap& parts);
// Ranges that the JVM has mapped for itself (mark bitmaps, offset tables, task queues): they are in no table, but what
// begins such a range, or a range's two ends or its start and size, is in the JVM's own data. Asked last, of what
// no other part has. `pages`: null for a core.
void find_own_ranges(Inspection& inspection, const PagesOfMappings& mappings, const target::Pagemap* pages,
                     PartMap& parts);

}  // namespace jtrace::coreinspect
