// HeapLayout: where the objects of a VM's heap are, for any collector: regions (spaces, pages), and in them the holes
// that belong to threads.
//
// Serial, Parallel, CMS (JDK 8, 11), G1, Epsilon, Shenandoah, ZGC in both modes; the rules of each are in a file of its
// own in this folder. A value: borrows nothing. For a live target it describes the moment of reading: tops are read
// before the TLABs, so that objects allocated in the meantime are after a top or in a hole. Threads: one at a time.
// Errors: those of the memory, kMalformed for an unknown collector or structure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coreinspect/vm/vm.h"

namespace jtrace::coreinspect {

struct AddressRange {
  Address start = 0, end = 0;
  Address buffer = 0;  // of a hole: start of the thread's allocation buffer of which it is the rest; 0: none
  bool operator==(const AddressRange&) const = default;
};

struct HeapRegion {
  Address start = 0, end = 0;  // bounds
  Address top = 0;             // objects are in [start, top)
  std::string_view type;       // "eden", "survivor", "old", "humongous", "free", ...
  bool one_object = false;     // one object at the start; the rest is filler
  bool young = false;
  bool free_chunks = false;     // CMS: free chunks lie between the objects
  bool collection_set = false;  // objects are being copied out of it (Shenandoah)
  bool forwarding = false;      // objects with a forwarding pointer were copied: the copies are counted
  bool zeros_unused = false;    // zeros are room that is not allocated (ZGC)
  std::uint32_t alignment = 0;  // of its objects, in bytes
  std::vector<Address> copied;  // objects that were copied but have no forwarding pointer, ascending (ZGC)
  std::vector<Address> starts;  // addresses at which objects are known to begin, ascending: copies (ZGC)
  // Bytes of objects and of the gaps between them.
  std::uint64_t used() const { return top - start; }
  bool same_content(const HeapRegion& other) const {
    return start == other.start && top == other.top && type == other.type;
  }
};

struct HeapLayout {
  std::string_view collector;        // Vm::collector(), or "Z generational"
  std::vector<HeapRegion> regions;   // sorted by address; with free regions if the collector has a table of them
  std::vector<AddressRange> holes;   // sorted by address: allocated by threads, but not filled yet
  std::uint64_t region_size = 0;     // 0 if sizes differ
  std::uint64_t collections = 0;     // number of collections begun (CollectedHeap::_total_collections)
  std::vector<std::string> missing;  // what could not be found; one line each
  std::uint64_t used() const;
  std::uint64_t committed() const;
};

Result<HeapLayout> read_heap_layout(const Vm& vm);
// CollectedHeap::_total_collections.
Result<std::uint64_t> read_collections(const Vm& vm);
// CollectedHeap::_reserved; not of use with ZGC, which has views of one file instead.
Result<AddressRange> reserved_heap(const Vm& vm);
// The value of the flag ObjectAlignmentInBytes: a power of two, 8 to 256.
std::uint32_t object_alignment(const Vm& vm);

// Parts of read_heap_layout(), one for each collector (gc/*_layout.cpp). `heap`: Universe::_collectedHeap.
Result<> read_contiguous_layout(const Vm& vm, Address heap, HeapLayout& layout);  // Serial, Parallel, CMS, Epsilon
Result<> read_g1_layout(const Vm& vm, Address heap, HeapLayout& layout);
Result<> read_shenandoah_layout(const Vm& vm, Address heap, HeapLayout& layout);
Result<> read_z_layout(const Vm& vm, HeapLayout& layout);
// Unused parts of the threads' allocation buffers.
Result<std::vector<AddressRange>> read_tlab_holes(const Vm& vm);
// The same at the addresses that are good at this moment, as read_z_layout() has them.
Result<std::vector<AddressRange>> read_z_holes(const Vm& vm);

}  // namespace jtrace::coreinspect
