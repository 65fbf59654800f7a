// HeapLayout: where objects lie in the heap of a VM, whatever its collector: regions (spaces, pages) and the holes in
// them that belong to threads.
//
// Serial, Parallel, CMS (8, 11), G1, Epsilon, Shenandoah, ZGC in both modes; the rules of each in a file of its own
// beside this one. Borrows nothing: a value. Of a live target it is of the moment of reading: tops are read before the
// TLABs, so that what is allocated meanwhile lies after a top or in a hole. Threads: one at a time. Errors: those of
// the memory, kMalformed for a collector or a structure that is not known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct AddressRange {
  Address start = 0, end = 0;
  Address buffer = 0;  // of a hole: where the thread's buffer begins that it is the rest of; 0 where it is none
  bool operator==(const AddressRange&) const = default;
};

struct HeapRegion {
  Address start = 0, end = 0;  // what it is made of
  Address top = 0;             // objects lie from start up to here
  std::string_view type;       // "eden", "survivor", "old", "humongous", "free", ...
  bool one_object = false;     // at its start; what is after the object is filler
  bool young = false;
  bool free_chunks = false;     // CMS: chunks that are free lie between the objects
  bool forwarding = false;      // objects that carry a forwarding pointer were copied away: they count there
  bool zeros_unused = false;    // words of zero are room that nobody has taken (ZGC)
  std::uint32_t alignment = 0;  // of its objects, bytes
  std::vector<Address> copied;  // objects that were copied away and do not tell so themselves, ascending (ZGC)
  // Bytes of objects and of what lies between them.
  std::uint64_t used() const { return top - start; }
  bool same_content(const HeapRegion& other) const {
    return start == other.start && top == other.top && type == other.type;
  }
};

struct HeapLayout {
  std::string_view collector;        // Vm::collector(), "Z generational" for that mode
  std::vector<HeapRegion> regions;   // by address; free ones too where the collector has a table of them
  std::vector<AddressRange> holes;   // by address: what threads have taken and not filled yet
  std::uint64_t region_size = 0;     // 0 where they differ
  std::uint64_t collections = 0;     // begun so far (CollectedHeap::_total_collections)
  std::vector<std::string> missing;  // what cannot be told; one line each
  std::uint64_t used() const;
  std::uint64_t committed() const;
};

Result<HeapLayout> read_heap_layout(const Vm& vm);
// CollectedHeap::_total_collections.
Result<std::uint64_t> read_collections(const Vm& vm);
// True of an ObjectAlignmentInBytes flag's value: a power of two, 8 to 256.
std::uint32_t object_alignment(const Vm& vm);

// Parts of read_heap_layout(), one a collector (gc/*_layout.cpp). `heap`: Universe::_collectedHeap.
Result<> read_contiguous_layout(const Vm& vm, Address heap, HeapLayout& layout);  // Serial, Parallel, CMS, Epsilon
Result<> read_g1_layout(const Vm& vm, Address heap, HeapLayout& layout);
Result<> read_shenandoah_layout(const Vm& vm, Address heap, HeapLayout& layout);
Result<> read_z_layout(const Vm& vm, HeapLayout& layout);
// Unused parts of the threads' allocation buffers.
Result<std::vector<AddressRange>> read_tlab_holes(const Vm& vm);

}  // namespace jtrace::coreinspect
